/** Puts a facility in force from files that came over the socket: all of it, or nothing. */
import type { CallContext } from '../control/door-side.ts';
import { type Arguments, ControlRefusal } from '../control/messages.ts';
import type { ImportReport } from '../control/replies.ts';
import { type Replica, ReplicaFault } from '../replica/replica.ts';
import { ImportSpool } from './import-spool.ts';

export class Importer {
  readonly #replica: Replica;
  readonly #spool: ImportSpool;
  #isBusy = false;

  constructor(replica: Replica, dataDir: string) {
    this.#replica = replica;
    this.#spool = new ImportSpool(dataDir);
  }

  begin(call: Arguments<'import-begin'>): string {
    this.#refuseBusy();
    return this.#spool.begin(call);
  }

  put(call: Arguments<'import-chunk'>): Promise<void> {
    this.#refuseBusy();
    return this.#spool.put(call);
  }

  async commit({ import: id, dryRun }: Arguments<'import-commit'>, context: CallContext): Promise<ImportReport> {
    this.#refuseBusy();
    this.#isBusy = true;
    try {
      const files = await this.#spool.take(id);
      return await this.#replica.import({ files, isDryRun: dryRun, onProgress: context.emit });
    } catch (error) {
      throw error instanceof ReplicaFault ? refusalOf(error) : error;
    } finally {
      this.#isBusy = false;
      this.#spool.end(id);
    }
  }

  #refuseBusy(): void {
    if (this.#isBusy) throw new ControlRefusal('BUSY', 'an import is under way');
  }
}

const refusalOf = (fault: ReplicaFault): ControlRefusal =>
  new ControlRefusal(fault.code, fault.message, { cause: fault });
