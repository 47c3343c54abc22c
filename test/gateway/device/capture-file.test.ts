import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LineTraffic } from '#gateway/device/driver.ts';
import { type CaptureSummary, openCaptureFile } from '#gateway/device/osdp/capture-file.ts';
import { encodeInterface, encodePacket, encodeSectionHeader } from '#gateway/device/pcapng.ts';
import { crc16 } from '#protocol/osdp/crc16.ts';
import { decodeFrame } from '#protocol/osdp/frame.ts';
import { identifier } from '#shared/identifier.ts';
import { monoMs, wallMs } from '#shared/instant.ts';
import { fromHex, traceNames } from '../../firmware-protocol/osdp/trace.ts';
import { frontDoor, trafficOf } from './capture-traffic.ts';
import { readPcapng } from './pcapng-reader.ts';

let folder = '';
let path = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'capture-'));
  path = join(folder, 'line.pcapng');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The message with its CRC after it. */
function withCheck(bytes: Uint8Array): Uint8Array {
  const crc = crc16(bytes);
  return Uint8Array.of(...bytes, crc & 0xff, crc >> 8);
}

const began = Date.UTC(2026, 0, 2, 3, 4, 5);
async function capture(traffic: readonly LineTraffic[], mostBytes = 1e6): Promise<CaptureSummary> {
  const anchor = { mono: monoMs(0), wall: wallMs(began) };
  const file = await openCaptureFile(path, { anchor, application: 'kannuki test', mostBytes });
  for (const each of traffic) file.write(each);
  return file.close();
}

describe('a capture file', () => {
  it.each(traceNames)('holds every frame of %s with its time, direction and line', async (name) => {
    const traffic = trafficOf(name);
    const summary = await capture(traffic);
    const { application, interfaces, packets } = readPcapng(readFileSync(path));
    expect(summary).toEqual({
      packets: traffic.length,
      leftOut: 0,
      bytes: statSync(path).size,
      end: 'closed',
      fault: undefined,
    });
    expect(application).toBe('kannuki test');
    expect(interfaces).toEqual([{ linkType: 147, name: 'front-door', longest: 1440 }]);
    expect(packets.map((packet) => packet.atMicroseconds)).toEqual(
      traffic.map((each) => BigInt(Math.round((began + each.at) * 1_000))),
    );
    expect(packets.map((packet) => packet.flags)).toEqual(
      traffic.map((each) => (each.direction === 'from-device' ? 1 : 2)),
    );
    for (const packet of packets) {
      expect(packet.comment).toMatch(/^front-door (->|<-|\?\?) /);
      if (!packet.comment.includes('??')) expect(decodeFrame(packet.bytes).kind).toBe('frame');
    }
  });

  it('has its own interface for each line', async () => {
    const other = identifier<'line'>('back-door');
    await capture([...trafficOf('01-plain').slice(0, 2), ...trafficOf('02-secure-scbk', other).slice(0, 2)]);
    const { interfaces, packets } = readPcapng(readFileSync(path));
    expect(interfaces.map((each) => each.name)).toEqual([frontDoor, other]);
    expect(packets.map((packet) => packet.interface)).toEqual([0, 0, 1, 1]);
  });

  it('holds no card and no key of a plain session', async () => {
    const traffic = trafficOf('01-plain');
    const secrets = ['bdd93740', '8870ea1880', '02695464e8', '8499602d28', 'b38f0f80', '31320d', '3132330d'];
    const onTheLine = secrets.filter((secret) =>
      traffic.some((each) => Buffer.from(each.bytes).toString('hex').includes(secret)),
    );
    expect(onTheLine.length).toBeGreaterThan(4);
    await capture(traffic);
    const hex = readFileSync(path).toString('hex');
    for (const secret of onTheLine) expect(hex).not.toContain(secret);
  });

  it('holds no key that was set, even encrypted', async () => {
    const keySet = trafficOf('03-install-mode-scbkd-keyset').find((each) => each.bytes[8] === 0x75);
    expect(keySet).toBeDefined();
    await capture(trafficOf('03-install-mode-scbkd-keyset'));
    const file = readFileSync(path);
    expect(file.includes(Buffer.from(keySet?.bytes.subarray(9, 25) ?? []))).toBe(false);
    const packet = readPcapng(file).packets.find((each) => each.comment.includes('KEYSET'));
    expect(packet?.bytes).toHaveLength((keySet?.bytes.length ?? 0) - 1);
  });

  it('keeps the ciphertext of a session under a reader’s own key, as the line had it', async () => {
    const traffic = trafficOf('02-secure-scbk');
    await capture(traffic);
    expect(readPcapng(readFileSync(path)).packets.map((packet) => packet.bytes)).toEqual(
      traffic.map((each) => each.bytes.subarray(1)),
    );
  });

  it('zeroes ciphertext from the moment a handshake asks for the key everybody knows, until one does not', async () => {
    const challenge = (select: '00' | '01'): string => `53 00 13 00 0c 03 11 ${select} 76 aabbccddeeff0011`;
    const raw = `53 80 1e 00 0e 02 18 50 ${'ee'.repeat(16)} 01020304`;
    const traffic = [challenge('00'), raw, challenge('01'), raw].map((hex, at) => ({
      at: monoMs(at),
      line: frontDoor,
      direction: hex === raw ? ('from-device' as const) : ('to-device' as const),
      bytes: withCheck(fromHex(hex)),
    }));
    await capture(traffic);
    const { packets } = readPcapng(readFileSync(path));
    expect(packets.map((packet) => Buffer.from(packet.bytes).includes(Buffer.alloc(16, 0xee)))).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });

  it('says how many bytes were damaged, and keeps none of them', async () => {
    const bytes = fromHex('00 01 02 03 04');
    await capture([{ at: monoMs(0), line: frontDoor, direction: 'from-device', bytes }]);
    const [packet] = readPcapng(readFileSync(path)).packets;
    expect(packet).toMatchObject({ originalLength: 5, bytes: { length: 0 } });
    expect(packet?.comment).toBe('front-door ?? 5 bytes from-device that are no message');
  });

  it('never overwrites a file', async () => {
    await capture([]);
    const before = readFileSync(path);
    await expect(capture(trafficOf('01-plain'))).rejects.toMatchObject({ code: 'EEXIST' });
    expect(readFileSync(path)).toEqual(before);
  });

  it('says why it cannot be created', async () => {
    path = join(folder, 'no-such-folder', 'line.pcapng');
    await expect(capture([])).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('is readable by its owner only', async () => {
    await capture([]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('ends at its limit with a whole file', async () => {
    const summary = await capture(trafficOf('02-secure-scbk'), 2_000);
    expect(summary.end).toBe('full');
    expect(statSync(path).size).toBeLessThanOrEqual(2_000);
    expect(readPcapng(readFileSync(path)).packets).toHaveLength(summary.packets);
  });

  it('takes nothing after it was closed', async () => {
    const anchor = { mono: monoMs(0), wall: wallMs(began) };
    const file = await openCaptureFile(path, { anchor, application: 'kannuki test', mostBytes: 1e6 });
    const summary = await file.close();
    for (const each of trafficOf('01-plain')) file.write(each);
    expect(await file.close()).toEqual(summary);
    expect(readPcapng(readFileSync(path)).packets).toEqual([]);
  });

  it('ends with the fault when the disk takes no more, and the process goes on', () => {
    const writer = new URL('./capture-writer.ts', import.meta.url).pathname;
    const run = spawnSync('bash', ['-c', 'ulimit -f 16; exec "$0" "$1" "$2"', process.execPath, writer, path], {
      encoding: 'utf8',
    });
    expect(run.stderr).toBe('');
    expect(JSON.parse(run.stdout)).toEqual({ end: 'failed', code: 'EFBIG' });
    expect(run.status).toBe(0);
  });
});

describe('pcapng blocks', () => {
  it('cut long comments and keep any text readable', () => {
    const file = Buffer.concat([
      encodeSectionHeader('kannuki'),
      encodeInterface('扉', 1440),
      encodePacket({
        interface: 0,
        atMicroseconds: 2n ** 40n + 5n,
        direction: 'outbound',
        bytes: Uint8Array.of(1, 2, 3),
        originalLength: 9,
        comment: 'x'.repeat(70_000),
      }),
    ]);
    const { interfaces, packets } = readPcapng(file);
    expect(interfaces[0]?.name).toBe('扉');
    expect(packets[0]).toMatchObject({ atMicroseconds: 2n ** 40n + 5n, originalLength: 9, flags: 2 });
    expect(packets[0]?.comment).toHaveLength(1_000);
  });
});
