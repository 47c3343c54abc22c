/**
 * A simulated door with its wires: current in from an output, switches out to inputs, a record of the lock's current.
 *
 * Not promised: that a record line is written when nothing changed and nobody commanded anything.
 */
import type { DoorId } from '#shared/identifier.ts';
import {
  closedDoor,
  type DoorInput,
  type Happening,
  isPassable,
  nextDueAt,
  sense,
  stepPhysics,
} from './door-physics.ts';
import type { SiteDoor } from './site-file.ts';
import type { DoorStatus } from './site-report.ts';
import type { StrikeEvent, StrikeRecord } from './strike-record.ts';
import { createWakeUp, now } from './wake-up.ts';

type Act = DoorInput extends infer Input ? (Input extends DoorInput ? Omit<Input, 'at'> : never) : never;

export interface DoorWires {
  /** A switch of the door changed, or is told for the first time. */
  readonly sensed: (wire: 'contact' | 'exitButton' | 'fire', isTrue: boolean) => void;
  readonly happened: (what: Happening | 'current-on' | 'current-off') => void;
}

export interface CurrentChange {
  readonly isOn: boolean;
  readonly cause: StrikeEvent['cause'];
  /** The OUT command in hexadecimal, where one caused it. */
  readonly command?: string;
}

export interface WiredDoor {
  readonly id: DoorId;
  act(act: Act): void;
  /** Current at the lock, after a command or a change. */
  current(change: CurrentChange): void;
  status(): Omit<DoorStatus, 'isJammed'>;
}

export function createWiredDoor(door: SiteDoor, record: StrikeRecord, wires: DoorWires): WiredDoor {
  const shape = { release: door.strike.release, opensAfterMs: door.opensAfterMs, closesAfterMs: door.closesAfterMs };
  let state = closedDoor;
  const act = (what: Act) => {
    const before = sense(state);
    const step = stepPhysics(shape, state, { ...what, at: now() } as DoorInput);
    state = step.state;
    wakeUp.set(nextDueAt(state));
    const after = sense(state);
    for (const happening of step.happened) wires.happened(happening);
    if (after.contact !== before.contact) wires.sensed('contact', after.contact);
    if (after.rex !== before.rex) wires.sensed('exitButton', after.rex);
    if (after.fire !== before.fire) wires.sensed('fire', after.fire);
  };
  const wakeUp = createWakeUp(() => act({ kind: 'tick' }));
  const current = ({ isOn, cause, command }: CurrentChange) => {
    const hasChanged = isOn !== state.isEnergised;
    if (hasChanged) act({ kind: 'current', isOn });
    record.append({
      cause,
      ...(command === undefined ? {} : { command }),
      isOn,
      hasChanged,
      isPassable: isPassable(shape, state),
    });
    if (hasChanged) wires.happened(isOn ? 'current-on' : 'current-off');
  };
  const told = sense(state);
  wires.sensed('contact', told.contact);
  wires.sensed('exitButton', told.rex);
  wires.sensed('fire', told.fire);
  current({ isOn: false, cause: 'start' });
  return {
    id: door.id,
    act,
    current,
    status: () => ({
      door: door.id,
      name: door.name,
      leaf: state.leaf,
      isPassable: isPassable(shape, state),
      isCurrentOn: state.isEnergised,
      isContactStuck: state.stuckContact !== undefined,
      isFireActive: state.isFireActive,
    }),
  };
}
