/**
 * A man in the middle of a TCP line: everything passes through his hands, message by message.
 * Real sockets on both sides; what he lets through, changes or adds is the test's affair.
 */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { type Frame, mark } from '#protocol/osdp/frame.ts';
import { createFrameParser, type FrameParser, parseFrames } from '#protocol/osdp/frame-parser.ts';

export type Direction = 'command' | 'reply';

export interface WireTap {
  readonly port: number;
  /** Everything that passed or was tried to pass, in order. */
  readonly seen: { readonly direction: Direction; readonly frame: Frame }[];
  /** What becomes of a message: the messages to deliver in its place. By default itself. */
  tamper: (direction: Direction, frame: Frame) => readonly Uint8Array[];
  /** Puts bytes on the line towards one side. */
  inject(towards: 'panel' | 'reader', bytes: Uint8Array): void;
  close(): Promise<void>;
}

export async function openWireTap(readerPort: number): Promise<WireTap> {
  const sockets = new Set<Socket>();
  let towardsPanel: Socket | undefined;
  let towardsReader: Socket | undefined;
  const tap: WireTap = {
    port: 0,
    seen: [],
    tamper: (_, frame) => [frame.bytes],
    inject: (towards, bytes) => void (towards === 'panel' ? towardsPanel : towardsReader)?.write(bytes),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  const pass = (from: Socket, to: Socket, direction: Direction) => {
    let parser: FrameParser = createFrameParser(direction === 'command' ? 'commands' : 'replies');
    from.on('data', (chunk) => {
      const step = parseFrames(parser, new Uint8Array(chunk));
      parser = step.state;
      for (const frame of step.frames) {
        tap.seen.push({ direction, frame });
        for (const bytes of tap.tamper(direction, frame)) to.write(Buffer.concat([Uint8Array.of(mark), bytes]));
      }
    });
    from.on('error', () => {});
    from.on('close', () => to.destroy());
    sockets.add(from);
  };
  const server = createServer({ noDelay: true }, (panel) => {
    const reader = connect({ host: '127.0.0.1', port: readerPort, noDelay: true });
    towardsPanel = panel;
    towardsReader = reader;
    pass(panel, reader, 'command');
    pass(reader, panel, 'reply');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  return Object.assign(tap, { port: typeof address === 'object' && address !== null ? address.port : 0 });
}
