import { expect, it } from 'vitest';
import type { LineTraffic } from '#gateway/device/driver.ts';
import { captureText, emptyCaptureText } from '#gateway/device/osdp/capture-text.ts';
import { identifier } from '#shared/identifier.ts';
import { monoMs } from '#shared/instant.ts';
import { fromHex, traceNames } from '../../firmware-protocol/osdp/trace.ts';
import { frontDoor, trafficOf } from './capture-traffic.ts';

function linesOf(traffic: readonly LineTraffic[]): readonly string[] {
  let state = emptyCaptureText;
  const lines: string[] = [];
  for (const each of traffic) {
    const step = captureText(state, each);
    state = step.state;
    lines.push(...step.lines);
  }
  return lines;
}

const piece = (at: number, direction: LineTraffic['direction'], hex: string): LineTraffic => ({
  at: monoMs(at),
  line: frontDoor,
  direction,
  bytes: fromHex(hex),
});
const poll = '53000800066089cc';
const ack = '5380080006403bca';

it('reads like the recorded session, with seconds since the capture began', () => {
  expect(linesOf(trafficOf('02-secure-scbk')).slice(0, 12)).toEqual([
    '    0.000 front-door -> 00 #0 plain ID',
    '    0.000 front-door <- 00 #0 plain PDID: vendor 0c0b0a model 1 version 2 serial 16909060 firmware 1.2.3',
    '    0.010 front-door -> 00 #1 plain CAP',
    '    0.010 front-door <- 00 #1 plain PDCAP: 1:1:2 2:1:1 3:1:1 4:1:2 5:1:1 6:1:1 8:1:0 9:1:0 10:0:1 13:0:1 16:2:0',
    '    0.022 front-door -> 00 #0 SCS_11 CHLNG',
    '    0.023 front-door <- 00 #0 SCS_12 CCRYPT',
    '    0.034 front-door -> 00 #1 SCS_13 SCRYPT',
    '    0.037 front-door <- 00 #1 SCS_14 RMAC_I',
    '    0.094 front-door -> 00 #2 SCS_15 POLL',
    '    0.094 front-door <- 00 #2 SCS_16 ACK',
    '    0.151 front-door -> 00 #3 SCS_15 POLL',
    '    0.151 front-door <- 00 #3 SCS_16 ACK',
  ]);
});

it('says that a card was read, and no bit of it', () => {
  const cards = linesOf(trafficOf('01-plain')).filter((line) => line.includes(' RAW'));
  expect(cards).not.toHaveLength(0);
  expect(cards[0]).toMatch(/<- 00 #\d plain RAW: reader 0 format 1, 26 bits$/);
});

it.each(traceNames)('has one line a frame for %s, whole or byte by byte', (name) => {
  const whole = trafficOf(name);
  const bytewise = whole.flatMap((traffic) =>
    Array.from(traffic.bytes, (byte) => ({ ...traffic, bytes: Uint8Array.of(byte) })),
  );
  const lines = linesOf(whole);
  expect(lines).toHaveLength(whole.length);
  if (name !== '08-corrupt-reply') expect(linesOf(bytewise)).toEqual(lines);
});

it('puts a frame together that came in pieces', () => {
  expect(
    linesOf([
      piece(0, 'to-device', `ff${poll}`),
      piece(5, 'from-device', ack.slice(0, 6)),
      piece(100, 'from-device', ack.slice(6)),
    ]),
  ).toEqual(['    0.000 front-door -> 00 #2 plain POLL', '    0.100 front-door <- 00 #2 plain ACK']);
});

it('says what was cut short, once the line was silent', () => {
  expect(linesOf([piece(0, 'from-device', ack.slice(0, 6)), piece(151, 'to-device', poll)])).toEqual([
    '    0.151 front-door ?? 3 bytes from-device that are no message: 1 × cut short',
    '    0.151 front-door -> 00 #2 plain POLL',
  ]);
});

it('says how much damage there was, without showing it', () => {
  expect(linesOf([piece(0, 'from-device', `00a5${ack.slice(0, -2)}00`)])).toEqual([
    '    0.000 front-door ?? 10 bytes from-device that are no message: 1 × wrong check',
  ]);
});

it('marks an echo', () => {
  expect(linesOf([piece(0, 'to-device', poll), piece(1, 'from-device', `${poll}${ack}`)])).toEqual([
    '    0.000 front-door -> 00 #2 plain POLL',
    '    0.001 front-door -> 00 #2 plain POLL (heard from-device: an echo or another panel)',
    '    0.001 front-door <- 00 #2 plain ACK',
  ]);
});

it('keeps lines apart', () => {
  const back = { ...piece(1, 'from-device', ack.slice(6)), line: identifier<'line'>('back-door') };
  expect(linesOf([piece(0, 'from-device', ack.slice(0, 6)), back, piece(2, 'from-device', ack.slice(6))])).toContain(
    '    0.002 front-door <- 00 #2 plain ACK',
  );
});
