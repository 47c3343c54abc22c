/** What becomes of a replica that proved damaged: nothing is granted from it, and that stands as an alarm. */
import { basename } from 'node:path';
import type { GatewayNews } from '../access/gateway-news.ts';
import type { JournalArchive } from '../journal/open-journal.ts';
import type { Replica } from '../replica/replica.ts';
import { replicaPath } from '../replica/replica-folder.ts';
import { namesSetAside } from '../store/quarantine.ts';
import type { Logger } from '../system/logger.ts';
import { monotonicNow } from '../system/monotonic.ts';
import { StorageWatch } from './storage-watch.ts';

export interface GuardParts {
  readonly dataDir: string;
  readonly archive: JournalArchive;
  readonly replica: Replica;
  readonly news: GatewayNews;
  readonly checkThread: URL;
  readonly log: Logger;
}

export class ReplicaGuard {
  readonly storage: StorageWatch;
  readonly #parts: GuardParts;

  constructor(parts: GuardParts) {
    this.#parts = parts;
    const { dataDir, archive, replica, news, checkThread, log } = parts;
    this.storage = new StorageWatch({
      dataDir,
      now: monotonicNow,
      writtenBytes: () => archive.writtenBytes(),
      checkReplica: () => replica.checkAll(),
      checkThread,
      onHealth: (state) => {
        news.takeStorage(state);
        news.takeAside(namesSetAside(dataDir));
      },
      onDamage: (file, findings) => {
        news.takeDamage(file, findings);
        if (file === this.#replicaName()) this.#take({ isLost: true, detail: `${file}: ${findings}` });
      },
      failed: (error) => log.warn({ err: error }, 'the storage could not be looked at'),
    });
    replica.reader.onFault((fault) => this.#take(fault));
  }

  close(): void {
    this.storage.close();
  }

  #take({ isLost, detail }: { readonly isLost: boolean; readonly detail: string }): void {
    const { news, replica } = this.#parts;
    if (!isLost) {
      news.takeUnread(detail);
      return;
    }
    this.storage.condemn(this.#replicaName(), detail);
    replica.reader.quarantine(detail);
    news.takeQuarantine(detail);
  }

  #replicaName(): string {
    const { state } = this.#parts.replica.reader;
    const epoch = state.kind === 'empty' ? 0 : (state.head?.epoch ?? 0);
    return basename(replicaPath('', epoch));
  }
}
