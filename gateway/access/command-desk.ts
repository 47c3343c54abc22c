/**
 * What an operator asks of a door. Journalled before it is done, done at most once, answered with an outcome.
 *
 * Guarantees: a mode that was answered for outlives the process; one that the journal could not keep stands until the
 * process ends, and the answer says so.
 */
import type { DoorId, RequestId } from '#shared/identifier.ts';
import { later, type MonoMs } from '#shared/instant.ts';
import type { CommandAnswer, DoorCommand } from '../door/door-input.ts';
import type { EntryDraft } from '../journal/entry.ts';
import type { AppendResult } from '../journal/journal.ts';
import type { DoorSet } from './door-set.ts';

export interface CommandDeskPorts {
  readonly doors: DoorSet;
  readonly now: () => MonoMs;
  readonly newRequestId: () => RequestId;
  readonly append: (entry: Pick<EntryDraft, 'kind' | 'door' | 'requestId' | 'body'>) => Promise<AppendResult>;
  readonly note: (entry: Pick<EntryDraft, 'kind' | 'door' | 'requestId' | 'body'>) => void;
  /** Resolves when everything handed to the journal so far is durable, or cannot be. */
  readonly settle: () => Promise<AppendResult>;
}

export interface CommandOutcome {
  readonly requestId: RequestId;
  readonly answer: CommandAnswer | 'DOOR_NOT_FOUND';
}

/** Nobody waits longer for a door to begin to move. */
const latestMs = 2_000;

/** Of a command from afar: its own id, who gave it, and after when it must not be done any more. */
export interface CommandOrigin {
  readonly requestId: RequestId;
  readonly actor: string;
  readonly notAfter: MonoMs;
}

export async function commandDoor(
  door: DoorId,
  command: DoorCommand,
  ports: CommandDeskPorts,
  origin?: CommandOrigin,
): Promise<CommandOutcome> {
  const requestId = origin?.requestId ?? ports.newRequestId();
  if (ports.doors.find(door) === undefined) {
    // Whoever asked from afar hears of it by the history alone.
    if (origin) ports.note({ kind: 'command.refused', door, requestId, body: { code: 'DOOR_UNKNOWN' } });
    return { requestId, answer: 'DOOR_NOT_FOUND' };
  }
  const notAfter = later(ports.now(), latestMs);
  const words = command.kind === 'mode' ? `mode ${command.mode}` : command.kind;
  const ms = command.kind === 'release' ? command.ms : undefined;
  const body = { command: words, ms, actor: origin?.actor };
  const result = await ports.append({ kind: 'command.received', door, requestId, body });
  if (result.kind !== 'durable') return { requestId, answer: 'JOURNAL_UNAVAILABLE' };
  const deadline = origin === undefined || notAfter < origin.notAfter ? notAfter : origin.notAfter;
  return await actAtDoor({ door, command, requestId, deadline, words }, ports);
}

interface Received {
  readonly door: DoorId;
  readonly command: DoorCommand;
  readonly requestId: RequestId;
  readonly deadline: MonoMs;
  readonly words: string;
}

/** What was journalled is done now, or refused. */
async function actAtDoor(received: Received, ports: CommandDeskPorts): Promise<CommandOutcome> {
  const { door, command, requestId, deadline, words } = received;
  const refuse = (answer: CommandAnswer): CommandOutcome => {
    ports.note({ kind: 'command.refused', door, requestId, body: { code: answer } });
    return { requestId, answer };
  };
  const shell = ports.doors.find(door);
  if (ports.now() > deadline || shell === undefined) return refuse('REQUEST_STALE');
  const isInterlocked = command.kind === 'release' && ports.doors.interlockedBy(shell.state.row) !== undefined;
  if (isInterlocked) return refuse('INTERLOCK');
  const answer = shell.command({ kind: 'command', at: ports.now(), requestId, command });
  // The door itself journals what it refuses; only one that was closed meanwhile says nothing.
  if (answer === 'INTERNAL_FAULT') return refuse(answer);
  if (answer === 'already-so') ports.note({ kind: 'command.done', door, requestId, body: { command: words, answer } });
  const isKept = command.kind !== 'mode' || (await ports.settle()).kind === 'durable';
  return { requestId, answer: isKept ? answer : 'JOURNAL_UNAVAILABLE' };
}
