/** Which entries of a gateway's history mean something to do in the cloud, and what. */
import { type AlarmCode, alarms, type Code, isCode } from '#shared/code.ts';
import type { UploadedEntry } from '#shared/contract/sync/journal.ts';
import type { commandMachine } from './command-lifecycle.ts';

type CommandEvent = (typeof commandMachine)['events'][number];

export interface EntryEvent {
  readonly type: string;
  readonly door: string | null;
  readonly requestId: string | null;
  /** Canonical JSON. */
  readonly body: string;
}

export type EntryEffect =
  /** An end of a command; `code` where it was refused. */
  | { readonly kind: 'command'; readonly id: string; readonly event: CommandEvent; readonly code: Code | null }
  | {
      readonly kind: 'alarm';
      readonly is: 'raised' | 'cleared';
      readonly code: AlarmCode;
      readonly subject: string;
      readonly door: string | null;
    }
  | { readonly kind: 'loss' }
  | { readonly kind: 'nothing' };

/** Ids of commands from here begin so; requests of people at the door do not. */
export const commandPrefix = 'cmd';

const commandEnds: Readonly<Record<string, CommandEvent>> = {
  'command.done': 'execute',
  'lock.released': 'execute',
  'lock.secured': 'execute',
  'door.mode-changed': 'execute',
  'command.refused': 'refuse',
  'lock.refused': 'refuse',
  'lock.not-executed': 'refuse',
  'release.interrupted': 'interrupt',
  'release.unknown': 'lose',
};

const others: ReadonlySet<string> = new Set(['alarm.raised', 'alarm.cleared', 'journal.lost']);

/** Whether it becomes an event of the inbox. */
export function isProcessed({ kind, requestId }: Pick<UploadedEntry, 'kind' | 'requestId'>): boolean {
  return others.has(kind) || (isOfCommand(requestId) && Object.hasOwn(commandEnds, kind));
}

const isOfCommand = (requestId: string | null): requestId is string =>
  requestId?.startsWith(`${commandPrefix}_`) ?? false;

export function effectOf({ type, door, requestId, body }: EntryEvent): EntryEffect {
  const event = commandEnds[type];
  const said = bodyOf(body);
  if (event !== undefined && isOfCommand(requestId)) {
    return { kind: 'command', id: requestId, event, code: event === 'refuse' ? refusalOf(said) : null };
  }
  if (type === 'journal.lost') return { kind: 'loss' };
  const { code } = said;
  if (!others.has(type) || typeof code !== 'string' || !isAlarm(code)) return { kind: 'nothing' };
  const is = type === 'alarm.raised' ? 'raised' : 'cleared';
  return { kind: 'alarm', is, code, subject: subjectOf(said, door), door };
}

const isAlarm = (code: string): code is AlarmCode => Object.hasOwn(alarms, code);

function refusalOf({ code }: Readonly<Record<string, unknown>>): Code {
  return typeof code === 'string' && isCode(code) ? code : 'LOCK_UNREACHABLE';
}

function subjectOf(said: Readonly<Record<string, unknown>>, door: string | null): string {
  if (door !== null) return `door ${door}`;
  const kind = ['device', 'line', 'reader'].find((name) => typeof said[name] === 'string');
  return kind === undefined ? 'gateway' : `${kind} ${said[kind]}`.slice(0, 128);
}

function bodyOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
