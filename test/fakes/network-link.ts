/** A network link between two programs on this machine: a TCP relay that fails as networks do. */
import { connect, createServer, type Socket } from 'node:net';

/** `closed`: refuses and resets. `silent`: takes and gives nothing. `one-way`: requests arrive, answers are lost. */
export type LinkFault = 'closed' | 'silent' | 'one-way';

export interface NetworkLink {
  readonly port: number;
  /** From now on, until it is mended; what is on its way is lost. */
  cut(fault: LinkFault): void;
  mend(): void;
  close(): Promise<void>;
}

/** @param farPort where the other program listens, or will. */
export async function openNetworkLink(farPort: number): Promise<NetworkLink> {
  let fault: LinkFault | undefined;
  const ends = new Set<Socket>();
  const endAll = () => {
    for (const end of ends) end.destroy();
  };
  const server = createServer((near) => {
    if (fault === 'closed') {
      near.destroy();
      return;
    }
    const far = connect(farPort, '127.0.0.1');
    carry(near, far, () => fault === 'silent');
    carry(far, near, () => fault === 'silent' || fault === 'one-way');
    for (const end of [near, far]) {
      ends.add(end);
      end.on('close', () => ends.delete(end));
    }
  });
  await new Promise<void>((done, fail) => server.once('error', fail).listen(0, '127.0.0.1', done));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    cut: (next) => {
      fault = next;
      if (next === 'closed') endAll();
    },
    mend: () => {
      // A connection that lost bytes never serves again.
      endAll();
      fault = undefined;
    },
    close: () => {
      endAll();
      return new Promise((done) => server.close(() => done()));
    },
  };
}

function carry(from: Socket, to: Socket, isLost: () => boolean): void {
  from.on('data', (bytes) => {
    if (!isLost()) to.write(bytes);
  });
  from.on('error', () => to.destroy());
  from.on('close', () => to.destroy());
  from.on('end', () => to.end());
}
