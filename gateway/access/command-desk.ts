/**
 * What an operator asks of a door. Journalled before it is done, done at most once, answered with an outcome.
 *
 * Guarantees: a mode that was answered for outlives the process; one that the journal could not keep stands until the
 * process ends, and the answer says so.
 */
import type { DoorId, RequestId } from '#shared/identifier.ts';
import { elapsedMs, type MonoMs } from '#shared/instant.ts';
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

export async function commandDoor(
  door: DoorId,
  command: DoorCommand,
  ports: CommandDeskPorts,
): Promise<CommandOutcome> {
  const requestId = ports.newRequestId();
  if (ports.doors.find(door) === undefined) return { requestId, answer: 'DOOR_NOT_FOUND' };
  const askedAt = ports.now();
  const words = command.kind === 'mode' ? `mode ${command.mode}` : command.kind;
  const ms = command.kind === 'release' ? command.ms : undefined;
  const result = await ports.append({ kind: 'command.received', door, requestId, body: { command: words, ms } });
  if (result.kind !== 'durable') return { requestId, answer: 'JOURNAL_UNAVAILABLE' };
  const refuse = (answer: CommandAnswer): CommandOutcome => {
    ports.note({ kind: 'command.refused', door, requestId, body: { code: answer } });
    return { requestId, answer };
  };
  const isLate = elapsedMs(askedAt, ports.now()) > latestMs;
  const shell = ports.doors.find(door);
  if (isLate || shell === undefined) return refuse('REQUEST_STALE');
  const isInterlocked = command.kind === 'release' && ports.doors.interlockedBy(shell.state.row) !== undefined;
  if (isInterlocked) return refuse('INTERLOCK');
  const answer = shell.command({ kind: 'command', at: ports.now(), requestId, command });
  // The door itself journals what it refuses; only one that was closed meanwhile says nothing.
  if (answer === 'INTERNAL_FAULT') return refuse(answer);
  const isKept = command.kind !== 'mode' || (await ports.settle()).kind === 'durable';
  return { requestId, answer: isKept ? answer : 'JOURNAL_UNAVAILABLE' };
}
