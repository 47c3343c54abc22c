import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSerialLine } from '#gateway/device/serial-line.ts';
import { openSite } from '#gateway/simulator/open-site.ts';
import { checkSite } from '#gateway/simulator/parse-site.ts';
import { decodeFrame, encodeFrame } from '#protocol/osdp/frame.ts';
import { monoMs } from '#shared/instant.ts';
import { openPtyPair } from '../../fakes/pty-pair.ts';
import { waitUntil } from '../../fakes/wait-until.ts';

const idCommand = encodeFrame({
  address: 3,
  isReply: false,
  sequence: 0,
  check: 'crc',
  security: undefined,
  code: 0x61,
  data: Uint8Array.of(0),
});

test('a simulated line may be one end of a serial cable', async () => {
  const cable = await openPtyPair();
  const dir = mkdtempSync(join(tmpdir(), 'kannuki-serial-'));
  const parsed = checkSite({
    lines: [{ id: 'bench', wire: { serial: cable.far }, baud: 115_200 }],
    peripherals: [{ id: 'reader', line: 'bench', address: 3, key: 'install', identity: { serial: 77 } }],
  });
  if (parsed.kind === 'invalid') throw new Error(parsed.issues.join());
  const site = await openSite({ site: parsed.site, stateDir: dir, baseDir: dir });
  const heard: number[] = [];
  const listener = { bytes: (bytes: Uint8Array) => void heard.push(...bytes), lost: () => {} };
  const line = await openSerialLine({ path: cable.near, baud: 115_200 }, listener, () => monoMs(performance.now()));
  try {
    await line.write(Uint8Array.of(0xff, ...idCommand));
    const reply = () => decodeFrame(Uint8Array.from(heard.slice(heard.indexOf(0x53))));
    await waitUntil('the whole reply', () => reply().kind === 'frame');
    expect(reply()).toMatchObject({ frame: { address: 3, isReply: true, code: 0x45 } });
    expect(site.ports.size).toBe(0);
  } finally {
    await line.close();
    await site.close();
    await cable.close();
    rmSync(dir, { recursive: true, force: true });
  }
});

test('a site whose line cannot be opened says which and why, and leaves nothing running', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'kannuki-serial-'));
  const parsed = checkSite({
    lines: [
      { id: 'good', wire: { port: 0 } },
      { id: 'bad', wire: { serial: join(dir, 'no-such-port') } },
    ],
    peripherals: [{ id: 'reader', line: 'good', address: 0, key: 'install', identity: { serial: 1 } }],
  });
  if (parsed.kind === 'invalid') throw new Error(parsed.issues.join());
  await expect(openSite({ site: parsed.site, stateDir: dir, baseDir: dir })).rejects.toThrow(
    /line bad: .*no-such-port/,
  );
  rmSync(dir, { recursive: true, force: true });
});
