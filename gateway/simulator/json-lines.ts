/** Lines of text from a socket, bounded: who sends a longer one is disconnected. */
import type { Socket } from 'node:net';

/** Calls `onLine` for each whole line; an error ends the socket and nothing else. */
export function readLines(socket: Socket, bytesMax: number, onLine: (line: string) => void): void {
  let pending = '';
  socket.setEncoding('utf8');
  socket.on('error', () => socket.destroy());
  socket.on('data', (text: string) => {
    pending += text;
    for (let end = pending.indexOf('\n'); end >= 0; end = pending.indexOf('\n')) {
      onLine(pending.slice(0, end));
      pending = pending.slice(end + 1);
    }
    if (pending.length > bytesMax) socket.destroy();
  });
}
