/** The running door process, as those who ask about it see it. */

import type { DeviceId } from '#shared/identifier.ts';
import type { MonoMs } from '#shared/instant.ts';
import type { AccessDeskPorts } from '../access/access-desk.ts';
import type { AlarmBoard } from '../access/alarm-board.ts';
import type { Bus } from '../access/bus-keeper.ts';
import type { DoorSet } from '../access/door-set.ts';
import type { TimeKeeper } from '../clock/time-keeper.ts';
import type { CloudStatus } from '../control/sync-replies.ts';
import type { Journal } from '../journal/journal.ts';
import type { JournalArchive } from '../journal/open-journal.ts';
import type { ReplicaReader } from '../replica/replica-reader.ts';
import type { Site } from '../site/site-store.ts';
import type { StorageWatch } from './storage-watch.ts';

export interface DoorProcess {
  readonly dataDir: string;
  readonly version: string;
  readonly now: () => MonoMs;
  readonly journal: Journal;
  readonly archive: JournalArchive;
  readonly site: Site;
  readonly replica: ReplicaReader;
  readonly time: TimeKeeper;
  readonly doors: DoorSet;
  readonly alarms: AlarmBoard;
  readonly storage: Pick<StorageWatch, 'status'>;
  readonly buses: () => readonly Bus[];
  /** Whether an installation gave it a key; `undefined` for a device that takes none so. */
  readonly hasOwnKey: (device: DeviceId) => boolean | undefined;
  /** What decisions are made from. */
  readonly sources: AccessDeskPorts['sources'];
  /** The way to the cloud; `undefined` where this gateway belongs to none. */
  readonly cloud: () => CloudStatus | undefined;
}
