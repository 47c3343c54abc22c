/**
 * The shell around the machine that decides which call is next: carries out its effects, and tells the door process how the
 * way to the cloud is.
 *
 * Runs until the door process goes away or the signal ends it. It keeps nothing: begun anew, it asks the door process again.
 */
import { elapsedMs, type MonoMs } from '#shared/instant.ts';
import type { ControlClient } from '../control/edge-side.ts';
import type { DoorNeeds } from '../control/sync-replies.ts';
import type { Logger } from '../system/logger.ts';
import { Relay, type RelayPorts } from './relay.ts';
import { createSync, type SyncEffect, type SyncInput, type SyncState, stepSync, uplinkOf } from './sync-machine.ts';

export interface SyncPorts {
  readonly door: ControlClient;
  readonly cloud: Pick<RelayPorts, 'send' | 'heardTime'>;
  readonly now: () => MonoMs;
  readonly log: Logger;
  /** Told when an address of this machine came or changed; returns the function that ends it. */
  readonly onLinkUp: (told: () => void) => () => void;
  readonly signal: AbortSignal;
}

/** How the way to the cloud is, is said again so often, so that silence means that there is no edge. */
const sayEveryMs = 20_000;

/** @returns when the door process went away or the signal came. */
export async function runSync(ports: SyncPorts): Promise<void> {
  const shell = new SyncShell(ports);
  const stopLink = ports.onLinkUp(() => shell.step({ kind: 'link-up' }));
  const say = setInterval(() => shell.sayUplink(), sayEveryMs);
  const stop = () => shell.step({ kind: 'stop' });
  ports.signal.addEventListener('abort', stop, { once: true });
  try {
    shell.step({ kind: 'tick' });
    // Ends with the connection, whoever closes it.
    await ports.door
      .call('sync-follow', {}, { onItem: (needs) => shell.hear(needs as DoorNeeds | null) })
      .catch(() => {});
  } finally {
    stop();
    stopLink();
    clearInterval(say);
    ports.signal.removeEventListener('abort', stop);
  }
}

class SyncShell {
  readonly #ports: SyncPorts;
  readonly #stopped = new AbortController();
  readonly #relay: Relay;
  #state: SyncState = createSync();
  #needs: DoorNeeds | undefined;
  #wake: NodeJS.Timeout | undefined;
  #detail = '';
  #said = '';

  constructor(ports: SyncPorts) {
    this.#ports = ports;
    this.#relay = new Relay({ door: ports.door, needs: (needs) => void this.#keep(needs), ...ports.cloud });
  }

  step(input: SyncInput): void {
    const { state, effects } = stepSync(this.#state, input, this.#ports.now(), Math.random());
    this.#state = state;
    for (const effect of effects) this.#carryOut(effect);
    const { text } = this.#uplink();
    if (text !== this.#said) this.sayUplink();
  }

  /** `null`: the gateway belongs to no cloud any more. */
  hear(needs: DoorNeeds | null): void {
    if (needs === null) this.#ports.door.close();
    else if (this.#keep(needs)) this.step({ kind: 'needs', needs });
  }

  /** @returns false for one that was said before what is known already. */
  #keep(needs: DoorNeeds): boolean {
    if (this.#needs !== undefined && needs.turn < this.#needs.turn) return false;
    this.#needs = needs;
    return true;
  }

  sayUplink(): void {
    if (this.#state.isStopped) return;
    const { text, uplink, failures } = this.#uplink();
    if (text !== this.#said) this.#ports.log.info({ uplink, detail: this.#detail }, 'the way to the cloud');
    this.#said = text;
    const news = { uplink, failures, detail: uplink === 'online' ? '' : this.#detail };
    // A door process that is away hears it when it is back.
    this.#ports.door.call('sync-told', news).catch(() => {});
  }

  #uplink() {
    const uplink = uplinkOf(this.#state);
    const word = uplink.kind === 'failing' ? uplink.why : uplink.kind;
    return { uplink: word, failures: uplink.kind === 'failing' ? uplink.failures : 0, text: word };
  }

  #carryOut(effect: SyncEffect): void {
    switch (effect.kind) {
      case 'call':
        void this.#call(effect);
        return;
      case 'wake':
        clearTimeout(this.#wake);
        this.#wake = setTimeout(
          () => this.step({ kind: 'tick' }),
          Math.max(1, Math.ceil(elapsedMs(this.#ports.now(), effect.at))),
        );
        return;
      case 'abort-all':
        clearTimeout(this.#wake);
        this.#stopped.abort();
    }
  }

  async #call({ call, uploadEntries }: Extract<SyncEffect, { kind: 'call' }>): Promise<void> {
    const { log } = this.#ports;
    const { result, detail } = await this.#relay.perform(call, uploadEntries, this.#stopped.signal);
    if (this.#stopped.signal.aborted) return;
    if (result.kind === 'failed') {
      this.#detail = `${call}: ${detail ?? result.why}`.slice(0, 200);
      log.debug({ call, why: result.why, detail }, 'a call to the cloud failed');
    }
    this.step({ kind: 'ended', call, result, ...(this.#needs === undefined ? {} : { needs: this.#needs }) });
  }
}
