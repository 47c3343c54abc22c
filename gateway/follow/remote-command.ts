/**
 * An act from afar that was proven and taken up: journalled, then done, at most once, and never after its life.
 *
 * Not promised: that a door obeys; its answer is the outcome, and what follows stands in the journal under the command's id.
 */
import type { RemoteCommand } from '#shared/contract/sync/command.ts';
import type { RequestId } from '#shared/identifier.ts';
import type { MonoMs } from '#shared/instant.ts';
import { type CommandDeskPorts, type CommandOrigin, type CommandOutcome, commandDoor } from '../access/command-desk.ts';
import type { DoorCommand } from '../door/door-input.ts';
import type { CardWindow } from './card-window.ts';

export interface RemotePorts {
  readonly commands: CommandDeskPorts;
  readonly cards: CardWindow;
  /** The cloud wants to hear where this gateway stands. */
  readonly refresh: () => void;
}

/** @param notAfter end of the command's life. @returns what each door answered, or the journal. */
export async function obey(
  { id, actor, what }: RemoteCommand,
  notAfter: MonoMs,
  ports: RemotePorts,
): Promise<readonly CommandOutcome['answer'][]> {
  const requestId = id as RequestId;
  const origin: CommandOrigin = { requestId, actor, notAfter };
  const { commands } = ports;
  switch (what.act) {
    case 'release': {
      const command: DoorCommand = what.ms === undefined ? { kind: 'release' } : { kind: 'release', ms: what.ms };
      return [(await commandDoor(what.door, command, commands, origin)).answer];
    }
    case 'secure':
      return [(await commandDoor(what.door, { kind: 'secure' }, commands, origin)).answer];
    case 'mode': {
      const { door, mode } = what;
      const doors = door === '*' ? commands.doors.shells.map((shell) => shell.state.row.id) : [door];
      const outcomes = doors.map((each) => commandDoor(each, { kind: 'mode', mode }, commands, origin));
      return (await Promise.all(outcomes)).map(({ answer }) => answer);
    }
    case 'read-card': {
      const body = { command: 'read-card', actor, reader: what.reader, window: what.window };
      const result = await commands.append({ kind: 'command.received', door: null, requestId, body });
      if (result.kind !== 'durable') return ['JOURNAL_UNAVAILABLE'];
      ports.cards.open(what);
      commands.note({ kind: 'command.done', door: null, requestId, body });
      return ['accepted'];
    }
    case 'refresh':
      ports.refresh();
      return ['accepted'];
  }
}
