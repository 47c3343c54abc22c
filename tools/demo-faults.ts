/** The faults a person can cause at the demonstration, by name: what each takes, what it does, what is said of it. */
import type { SiteVerb } from '#gateway/simulator/site-call.ts';

export type FaultOn = 'peripheral' | 'door' | 'line';

export interface FaultCall {
  readonly verb: SiteVerb;
  /** Checked where it arrives. */
  readonly arguments: object;
}

export interface DemoFault {
  readonly on: FaultOn;
  readonly name: string;
  /** What may follow the name, for the usage; `undefined` = nothing. */
  readonly value: string | undefined;
  /** Present tense, for the list. */
  readonly help: string;
  /** Past tense, once done. */
  readonly says: string;
  /** `undefined` if the value is not one. */
  readonly call: (target: string, value: string | undefined) => FaultCall | undefined;
}

type Takes = {
  readonly value?: string;
  readonly read?: (value: string | undefined) => Record<string, unknown> | undefined;
};

const nothing = (value: string | undefined) => (value === undefined ? {} : undefined);

/** A whole number of `unit`s in [1, max], passed on as `key` in units of `scale`. */
function count(key: string, unit: string, usual: number, { max = 100_000, scale = 1 } = {}): Takes {
  return {
    value: `[${unit}, ${usual}]`,
    read: (value) => {
      const number = Number(value ?? usual);
      return Number.isInteger(number) && number >= 1 && number <= max ? { [key]: number * scale } : undefined;
    },
  };
}

const seconds = (usual: number) => count('ms', 'seconds', usual, { max: 3_600, scale: 1_000 });

const atPeripheral = (name: string, help: string, says: string, takes: Takes = {}): DemoFault => ({
  on: 'peripheral',
  name,
  value: takes.value,
  help,
  says,
  call: (peripheral, value) => {
    const extra = (takes.read ?? nothing)(value);
    return extra && { verb: 'fault', arguments: { peripheral, fault: { kind: name, ...extra } } };
  },
});

const atDoor = (
  name: string,
  help: string,
  says: string,
  call: Pick<FaultCall, 'verb'> & { extra?: object },
): DemoFault => ({
  on: 'door',
  name,
  value: undefined,
  help,
  says,
  call: (door, value) => nothing(value) && { verb: call.verb, arguments: { door, ...call.extra } },
});

const doorFault = (fault: object) => ({ verb: 'door-fault' as const, extra: { fault } });

const atLine = (name: string, help: string, says: string): DemoFault => ({
  on: 'line',
  name,
  value: undefined,
  help,
  says,
  call: (line, value) => nothing(value) && { verb: 'line-fault', arguments: { line, fault: { kind: name } } },
});

export const demoFaults: readonly DemoFault[] = [
  atPeripheral('unplug', 'its cable is pulled', 'unplugged; plug puts it back'),
  atPeripheral('plug', 'its cable is put back', 'plugged in'),
  atPeripheral('power-cycle', 'off and on again', 'its power goes and comes back', seconds(2)),
  atPeripheral('noise', 'random bytes on the wire', 'noise on the wire', seconds(5)),
  atPeripheral(
    'replay',
    'answers with recorded replies, a card read among them',
    'old replies are sent again',
    count('count', 'replies', 10),
  ),
  atPeripheral('wrong-key', 'forgets its key and has another', 'it has another key now; heal gives its own back'),
  atPeripheral(
    'swap',
    'another reader of the same make hangs there',
    'another one hangs there now; heal brings its own back',
  ),
  atPeripheral('duplicate', 'says everything twice', 'says everything twice', count('count', 'replies', 20)),
  atPeripheral('delay', 'answers a quarter of a second late', 'answers late', count('count', 'replies', 20)),
  atPeripheral('corrupt', 'one bit of each reply flips', 'its replies are damaged', count('count', 'replies', 20)),
  atPeripheral('busy', 'says that it is busy', 'says that it is busy', count('count', 'replies', 30)),
  atPeripheral(
    'nak',
    'refuses what it is told, without encryption',
    'refuses what it is told',
    count('count', 'replies', 30),
  ),
  atPeripheral('tamper', 'its case is opened', 'its case is open; untamper closes it'),
  {
    ...atPeripheral('untamper', 'its case is closed', 'its case is closed'),
    call: (peripheral, value) =>
      nothing(value) && { verb: 'fault', arguments: { peripheral, fault: { kind: 'tamper', isActive: false } } },
  },
  atPeripheral('heal', 'everything about it is right again', 'as it was'),
  atDoor('force', 'is broken open', 'forced', { verb: 'force' }),
  atDoor('hold', 'something keeps it from closing', 'held, once it is open; let-go ends it', { verb: 'hold' }),
  atDoor('let-go', 'it may close', 'let go', { verb: 'hold', extra: { isHeld: false } }),
  atDoor('exit', 'somebody leaves by the exit button', 'somebody leaves', { verb: 'exit' }),
  atDoor('fire', 'the fire input becomes active', 'fire; clear-fire ends it', { verb: 'fire' }),
  atDoor('clear-fire', 'the fire input clears', 'the fire is over', { verb: 'fire', extra: { isActive: false } }),
  atDoor(
    'stick-open',
    'its contact says open, whatever it does',
    'its contact is stuck; free-contact frees it',
    doorFault({ kind: 'stick-contact', contact: 'open' }),
  ),
  atDoor(
    'stick-closed',
    'its contact says closed, whatever it does',
    'its contact is stuck; free-contact frees it',
    doorFault({ kind: 'stick-contact', contact: 'closed' }),
  ),
  atDoor('free-contact', 'its contact works again', 'its contact works', doorFault({ kind: 'free-contact' })),
  atDoor(
    'jam',
    'its lock takes commands and does not move',
    'its lock is jammed; unjam frees it',
    doorFault({ kind: 'jam' }),
  ),
  atDoor('unjam', 'its lock moves again', 'its lock moves', doorFault({ kind: 'unjam' })),
  atLine('drop', 'the converter is gone', 'gone; restore brings it back'),
  atLine('restore', 'the converter is back', 'back'),
];

/** The list of all faults, by what they happen to. */
export function faultUsage(): string {
  const title: Readonly<Record<FaultOn, string>> = {
    peripheral: 'a reader or board, such as office-reader:',
    door: 'a door, such as office:',
    line: 'a line, such as west:',
  };
  const listed = (Object.keys(title) as FaultOn[]).map((on) => {
    const rows = demoFaults
      .filter((fault) => fault.on === on)
      .map(({ name, value, help }) => `    ${`${name} ${value ?? ''}`.padEnd(26)} ${help}`);
    return `  ${title[on]}\n${rows.join('\n')}`;
  });
  const clock = `  clock:\n    ${'<±seconds>'.padEnd(26)} the time source jumps\n    ${'restore'.padEnd(26)} it is right again`;
  return [...listed, clock, ''].join('\n');
}
