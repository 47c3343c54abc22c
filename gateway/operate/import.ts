/**
 * Puts a facility in force from files that came over the socket: all of it, or nothing.
 *
 * An import ends with its caller: when the connection or the deadline ends before it is complete, nothing of it is left.
 */
import type { CallContext } from '../control/door-side.ts';
import { type Arguments, ControlRefusal } from '../control/messages.ts';
import type { ImportReport } from '../control/replies.ts';
import { type Replica, ReplicaFault } from '../replica/replica.ts';
import { ImportSpool } from './import-spool.ts';

export interface ImportSite {
  /** Of the configuration. */
  readonly devices: readonly string[];
  /** Whether the facility comes from a cloud. */
  readonly isOfCloud: () => boolean;
}

export class Importer {
  readonly #replica: Replica;
  readonly #spool: ImportSpool;
  readonly #site: ImportSite;
  #running: { readonly signal: AbortSignal; readonly ended: Promise<unknown> } | undefined;

  constructor(replica: Replica, dataDir: string, site: ImportSite) {
    this.#replica = replica;
    this.#site = site;
    this.#spool = new ImportSpool(dataDir);
  }

  /** Waits for an import that was given up to be gone: the time of one PIN, or of a thousand rows. */
  async begin(call: Arguments<'import-begin'>): Promise<string> {
    if (this.#running?.signal.aborted) await this.#running.ended;
    this.#refuseForeign();
    this.#refuseBusy();
    return this.#spool.begin(call);
  }

  put(call: Arguments<'import-chunk'>): Promise<void> {
    this.#refuseBusy();
    return this.#spool.put(call);
  }

  async commit({ import: id, dryRun }: Arguments<'import-commit'>, context: CallContext): Promise<ImportReport> {
    this.#refuseForeign();
    this.#refuseBusy();
    const work = this.#carryOut(id, dryRun, context);
    this.#running = { signal: context.signal, ended: work.catch(() => {}) };
    return await work;
  }

  async #carryOut(id: string, isDryRun: boolean, { emit, signal }: CallContext): Promise<ImportReport> {
    try {
      const files = await this.#spool.take(id);
      const order = { files, isDryRun, onProgress: emit, devices: this.#site.devices, signal };
      return await this.#replica.import(order);
    } catch (error) {
      throw error instanceof ReplicaFault ? refusalOf(error) : error;
    } finally {
      this.#running = undefined;
      this.#spool.end(id);
    }
  }

  /** Two masters of one facility would undo each other. */
  #refuseForeign(): void {
    if (this.#site.isOfCloud())
      throw new ControlRefusal('FACILITY_FROM_CLOUD', 'this gateway has its facility from the cloud');
  }

  #refuseBusy(): void {
    if (this.#running !== undefined) throw new ControlRefusal('BUSY', 'an import is under way');
  }
}

const refusalOf = (fault: ReplicaFault): ControlRefusal =>
  new ControlRefusal(fault.code, fault.message, { cause: fault });
