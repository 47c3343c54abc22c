import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LineFault } from '#gateway/device/line.ts';
import { openSerialLine } from '#gateway/device/serial-line.ts';
import { monoMs } from '#shared/instant.ts';
import { createLineEar } from '../../fakes/line-ear.ts';
import { openPtyPair, type PtyPair } from '../../fakes/pty-pair.ts';
import { waitUntil } from '../../fakes/wait-until.ts';

const now = () => monoMs(performance.now());
const open = (path: string, ear = createLineEar()) => openSerialLine({ path, baud: 115_200 }, ear, now);
const faultOf = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof LineFault ? error.code : error;
};
/** What a process of its own says when it opens the port, and how to end it. */
const holdElsewhere = async (path: string, uid?: number) => {
  const script = new URL('../../fakes/hold-serial-port.ts', import.meta.url).pathname;
  const holder = spawn(process.execPath, [script, path], {
    stdio: ['pipe', 'pipe', 'inherit'],
    ...(uid === undefined ? {} : { uid }),
  });
  const [said] = await once(holder.stdout, 'data');
  const end = async () => {
    holder.stdin.end();
    await once(holder, 'exit');
  };
  return { said: String(said).trim(), end };
};

describe('a serial line', () => {
  let cable: PtyPair;
  beforeEach(async () => {
    cable = await openPtyPair();
  });
  afterEach(() => cable.close());

  it('carries bytes both ways', async () => {
    const [nearEar, farEar] = [createLineEar(), createLineEar()];
    const near = await open(cable.near, nearEar);
    const far = await open(cable.far, farEar);
    await near.write(Buffer.from('question'));
    await waitUntil('the question', () => farEar.text() === 'question');
    await far.write(Buffer.from('answer'));
    await waitUntil('the answer', () => nearEar.text() === 'answer');
    await near.close();
    await far.close();
    expect([...nearEar.faults, ...farEar.faults]).toEqual([]);
  });

  it('changes its rate and goes on', async () => {
    const farEar = createLineEar();
    const near = await open(cable.near);
    const far = await open(cable.far, farEar);
    await near.setBaud(9600);
    await near.discardInput();
    await near.write(Buffer.from('slow'));
    await waitUntil('the bytes', () => farEar.text() === 'slow');
    await near.close();
    await far.close();
  });

  it('says that a port is missing', async () => {
    expect(await faultOf(open(`${cable.near}-not`))).toBe('missing');
  });

  it('says that a file is no port', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kannuki-no-port-'));
    writeFileSync(join(folder, 'file'), '');
    expect(await faultOf(open(join(folder, 'file')))).toBe('failed');
    rmSync(folder, { recursive: true });
  });

  it.runIf(process.getuid?.() === 0)('says that the system does not permit a port', async () => {
    chmodSync(cable.near, 0o600);
    chmodSync(join(cable.near, '..'), 0o755);
    const stranger = await holdElsewhere(cable.near, 65_534);
    expect(stranger.said).toBe('not-permitted');
    await stranger.end();
  });

  it('refuses a second process on the port by name, and opens when the first has ended', async () => {
    const first = await holdElsewhere(cable.near);
    expect(first.said).toBe('open');
    expect(await faultOf(open(cable.near))).toBe('busy');
    await first.end();
    await (await open(cable.near)).close();
  });

  it('tells that it was lost when the adapter is pulled, and opens again when it is back', async () => {
    const ear = createLineEar();
    const line = await open(cable.near, ear);
    await cable.unplug();
    await waitUntil('the loss', () => ear.faults.length > 0);
    expect(ear.faults.map((fault) => fault.code)).toEqual(['lost']);
    expect(await faultOf(line.check())).toBe('missing');
    expect(await faultOf(line.write(Buffer.from('into the void')))).toBe('lost');
    await line.close();
    await cable.plug();
    await (await open(cable.near)).close();
    expect(ear.faults).toHaveLength(1);
  });

  it('knows another device under the same name', async () => {
    const line = await open(cable.near);
    await line.check();
    const other = await openPtyPair();
    rmSync(cable.near);
    const { symlinkSync, realpathSync } = await import('node:fs');
    symlinkSync(realpathSync(other.near), cable.near);
    expect(await faultOf(line.check())).toBe('lost');
    await line.close();
    await other.close();
  });

  it('does not tell a loss that it caused by closing', async () => {
    const ear = createLineEar();
    const line = await open(cable.near, ear);
    await line.close();
    await line.close();
    expect(await faultOf(line.write(Buffer.from('late')))).toBe('lost');
    expect(ear.faults).toEqual([]);
  });
});
