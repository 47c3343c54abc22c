/**
 * The demonstration's network between gateway and cloud: a plain TCP relay that can be cut, as a cable is.
 *
 * Cut, it takes no connection and ends those that are; what was on its way is lost. How long is told by a file that
 * `npm run demo:partition` writes, so that nothing but this relay knows of it.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { DemoHome } from './demo-home.ts';

const lookEveryMs = 200;

export interface DemoLink {
  /** Where the gateway finds the cloud. */
  readonly port: number;
  close(): Promise<void>;
}

const cutFile = (home: DemoHome): string => join(home.dir, 'link-cut');

/** @param until wall time, ms; 0 mends the link. */
export function cutLink(home: DemoHome, until: number): void {
  if (until === 0) rmSync(cutFile(home), { force: true });
  else writeFileSync(cutFile(home), `${until}\n`);
}

function cutUntil(home: DemoHome): number {
  try {
    return Number(readFileSync(cutFile(home), 'utf8')) || 0;
  } catch {
    return 0;
  }
}

/**
 * @param cloudPort of a cloud that may still be starting: whoever connects meanwhile waits for it.
 * @param onChange told when it is cut and when it is whole again.
 */
export async function openLink(
  home: DemoHome,
  cloudPort: Promise<number>,
  onChange: (isCut: boolean) => void,
): Promise<DemoLink> {
  cutLink(home, 0);
  // Whoever waits for it hears that it did not come up; nobody may be waiting.
  cloudPort.catch(() => undefined);
  let isCut = false;
  const ends = new Set<Socket>();
  const keep = (one: Socket): void => {
    ends.add(one);
    one.on('close', () => ends.delete(one));
  };
  const relay = (near: Socket, port: number): void => {
    if (isCut || near.destroyed) {
      near.destroy();
      return;
    }
    const far = connect(port, '127.0.0.1');
    keep(far);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
      one.pipe(other);
    }
  };
  const server = createServer((near) => {
    keep(near);
    near.on('error', () => near.destroy());
    cloudPort.then(
      (port) => relay(near, port),
      () => near.destroy(),
    );
  });
  const timer = setInterval(() => {
    const wanted = cutUntil(home) > Date.now();
    if (wanted === isCut) return;
    isCut = wanted;
    if (isCut) for (const end of ends) end.destroy();
    onChange(isCut);
  }, lookEveryMs);
  await new Promise<void>((done, fail) => server.once('error', fail).listen(0, '127.0.0.1', done));
  return { port: portOf(server), close: () => close(server, timer, ends) };
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function close(server: Server, timer: NodeJS.Timeout, ends: ReadonlySet<Socket>): Promise<void> {
  clearInterval(timer);
  for (const end of ends) end.destroy();
  return new Promise((done) => server.close(() => done()));
}
