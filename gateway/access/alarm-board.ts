/** Alarms that stand now, by what they are about; each is raised once and cleared once. */
import type { AlarmCode } from '#shared/code.ts';
import { identifier, type RequestId } from '#shared/identifier.ts';
import type { EntryDraft } from '../journal/entry.ts';

/** What an alarm is about: a device, a line, a reader, a door, or the gateway itself. */
export interface AlarmSubject {
  readonly kind: 'device' | 'line' | 'reader' | 'door' | 'gateway';
  readonly id: string;
}

export interface StandingAlarm {
  readonly subject: AlarmSubject;
  readonly code: AlarmCode;
  readonly detail: string;
}

type Record = (entry: Pick<EntryDraft, 'kind' | 'door' | 'requestId' | 'body'>, haste: 'urgent' | 'shared') => void;

export class AlarmBoard {
  readonly #standing = new Map<string, StandingAlarm>();
  readonly #record: Record;

  constructor(record: Record) {
    this.#record = record;
  }

  list(): readonly StandingAlarm[] {
    return [...this.#standing.values()];
  }

  raise(subject: AlarmSubject, code: AlarmCode, detail: string): void {
    const key = keyOf(subject, code);
    if (this.#standing.has(key)) return;
    const alarm = { subject, code, detail };
    this.#standing.set(key, alarm);
    this.#write('alarm.raised', alarm);
  }

  clear(subject: AlarmSubject, code: AlarmCode): void {
    const alarm = this.#standing.get(keyOf(subject, code));
    if (!alarm) return;
    this.#standing.delete(keyOf(subject, code));
    this.#write('alarm.cleared', alarm);
  }

  /** What happens and is over: a forged message, a duress credential. Every time is an entry. */
  announce(subject: AlarmSubject, code: AlarmCode, cause: string | { readonly requestId: RequestId }): void {
    const isText = typeof cause === 'string';
    this.#write('alarm.raised', { subject, code, detail: isText ? cause : '' }, isText ? null : cause.requestId);
  }

  #write(
    kind: 'alarm.raised' | 'alarm.cleared',
    { subject, code, detail }: StandingAlarm,
    requestId: RequestId | null = null,
  ): void {
    const door = subject.kind === 'door' ? identifier<'door'>(subject.id) : null;
    const body = { code, detail, ...(door === null ? { [subject.kind]: subject.id } : {}) };
    this.#record({ kind, door, requestId, body }, kind === 'alarm.raised' ? 'urgent' : 'shared');
  }
}

const keyOf = (subject: AlarmSubject, code: AlarmCode): string => `${subject.kind} ${subject.id} ${code}`;
