/**
 * A command from afar, from the request to what became of it: what the gateway's history says is the truth, and silence is
 * `unknown`, never success and never failure.
 */
import { commandLifetimeMsMax } from '#shared/contract/sync/command.ts';
import { declareMachine, illegal, noop, to } from '#shared/machine.ts';

const done = noop('ALREADY_DONE');

export const commandMachine = declareMachine({
  name: 'gateway_command',
  about:
    'Somebody asks a door to do something now. It is offered for seconds, done at most once, and its end is reported.',
  states: ['queued', 'delivered', 'executed', 'refused', 'expired', 'interrupted', 'unknown'],
  events: ['deliver', 'execute', 'refuse', 'interrupt', 'expire', 'lose'],
  initial: 'queued',
  conflict: 'COMMAND_STATE_CHANGED',
  conditions: {
    isTimeOver: { says: 'its time is over', refuses: 'ILLEGAL_TRANSITION' },
    isSilenceOver: { says: 'the gateway has had time to report it, and did not', refuses: 'ILLEGAL_TRANSITION' },
  },
  cells: {
    /** It left, signed, in an answer to a poll. */
    deliver: {
      queued: to('delivered'),
      delivered: done,
      executed: done,
      refused: done,
      expired: illegal,
      interrupted: done,
      unknown: illegal,
    },
    /** The next three are entries of the gateway's history under the command's id; they may come at any time. */
    execute: {
      queued: to('executed'),
      delivered: to('executed'),
      executed: done,
      refused: illegal,
      expired: to('executed'),
      interrupted: illegal,
      unknown: to('executed'),
    },
    refuse: {
      queued: to('refused'),
      delivered: to('refused'),
      executed: illegal,
      refused: done,
      expired: to('refused'),
      interrupted: illegal,
      unknown: to('refused'),
    },
    interrupt: {
      queued: to('interrupted'),
      delivered: to('interrupted'),
      executed: done,
      refused: done,
      expired: to('interrupted'),
      interrupted: done,
      unknown: to('interrupted'),
    },
    /** It never left: it is certain that nothing happened. */
    expire: {
      queued: to('expired', { needs: ['isTimeOver'] }),
      delivered: illegal,
      executed: done,
      refused: done,
      expired: done,
      interrupted: done,
      unknown: illegal,
    },
    /** It left, and nobody said what became of it. */
    lose: {
      queued: illegal,
      delivered: to('unknown', { needs: ['isSilenceOver'] }),
      executed: done,
      refused: done,
      expired: illegal,
      interrupted: done,
      unknown: done,
    },
  },
});

export type CommandState = (typeof commandMachine)['states'][number];

/** After its time, so long is waited for the history to arrive before it counts as unknown; a later word still counts. */
export const silenceMs = 120_000;

export interface OpenCommand {
  readonly state: CommandState;
  /** Wall time of the request and how long it may still be begun, ms; at most `commandLifetimeMsMax`. */
  readonly requestedAt: number;
  readonly lifetimeMs: number;
}

/** Less is not worth signing: it would be too late at the door. */
const offeredMsMin = 1_000;

/**
 * Whether a poll's answer may carry the command, and what life to sign. The door counts it from its nonce, that is from
 * before the poll arrived: what is signed ends no later than the request's own time, however long the poll has waited.
 * It is offered again until it is reported or its time is over: the door process takes up each id once.
 * @param polledAt when the poll with that nonce arrived. @returns milliseconds, or `undefined`.
 */
export function offeredMs(command: OpenCommand, polledAt: number, now: number): number | undefined {
  if (command.state !== 'queued' && command.state !== 'delivered') return undefined;
  const end = command.requestedAt + command.lifetimeMs;
  return end - now < offeredMsMin ? undefined : Math.min(end - polledAt, commandLifetimeMsMax);
}

/** What time alone does to a command: the sweep's question. */
export function overdue(command: OpenCommand, now: number): 'expire' | 'lose' | undefined {
  const end = command.requestedAt + command.lifetimeMs;
  if (command.state === 'queued') return now >= end ? 'expire' : undefined;
  return command.state === 'delivered' && now >= end + silenceMs ? 'lose' : undefined;
}
