/**
 * Writes what other programs know of the lock link: its CDDL, its vectors as JSON, and the same vectors as lines for the
 * reference in C. A test fails while they are not as the code is.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { linkCddl } from './link-cddl.ts';
import {
  frameVectors,
  malformedVectors,
  messageVectors,
  pieceVectors,
  stuffingVectors,
} from './link-message-vectors.ts';
import { recordVectors, sessionVector } from './link-session-vector.ts';
import { hexOf } from './link-vector-lines.ts';

const folder = join(import.meta.dirname, '..', 'firmware-protocol');

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 1)}\n`;
const orDash = (hex: string): string => (hex === '' ? '-' : hex);
const said = (input: string, ...answers: readonly string[]): readonly string[] => [
  `> ${input}`,
  ...answers.map((line) => `< ${line}`),
];

function messageLines(): readonly string[] {
  const way = (direction: string): string => (direction === 'to-lock' ? 'to' : 'from');
  const good = messageVectors().flatMap(({ name, direction, items, hex }) => [
    `# ${name}`,
    ...said(`decode ${way(direction)} ${hex}`, `ok ${items}`),
    ...said(`encode ${way(direction)} ${items}`, `ok ${hex}`),
  ]);
  const bad = malformedVectors().flatMap(({ name, direction, hex, refusal }) => [
    `# ${name}`,
    ...said(`decode ${way(direction)} ${orDash(hex)}`, `refused ${refusal}`),
  ]);
  return [...good, ...bad];
}

/** Maps that a program might build and none may send. */
function unsendableLines(): readonly string[] {
  const command = '0=u2,1=u1,2=u42';
  const sixteen = Array.from({ length: 16 }, (_, key) => `${key}=u1`).join(',');
  const halves = ['0=u2,1=u1', '0=u1,1=u1,2=u42,3=u99', '0=u7,1=u1,2=u42,3=u0,4=t31323361'];
  return [sixteen, `${command},1=u1`, `${command},3=u1`, ...halves].flatMap((items) =>
    said(`encode to ${items}`, 'failed'),
  );
}

function transportLines(): readonly string[] {
  const stuffing = stuffingVectors().flatMap(({ clear, stuffed }) => [
    ...said(`stuff ${orDash(clear)}`, `ok ${stuffed}`),
    ...said(`unstuff ${stuffed}`, `ok ${orDash(clear)}`),
  ]);
  const { good, bad } = frameVectors();
  const frames = good.flatMap(({ address, turn, isFresh, isAnswer, packet, hex }) => {
    const words = `${address} ${turn} ${Number(isFresh)} ${Number(isAnswer)} ${orDash(packet)}`;
    return [...said(`frame ${words}`, `ok ${hex}`), ...said(`unframe ${hex.slice(0, -2)}`, `ok ${words}`)];
  });
  const damaged = bad.flatMap(({ stuffed, fault }) => said(`unframe ${orDash(stuffed)}`, `dropped ${fault}`));
  const pieces = pieceVectors().flatMap(({ size, sequence, packet, pieces: parts }) => [
    ...said(`cut ${size} ${sequence} ${packet}`, ...parts.map((part) => `piece ${part}`)),
    ...parts.flatMap((part, at) => said(`piece ${part}`, at === parts.length - 1 ? `packet ${packet}` : 'more')),
  ]);
  const records = recordVectors().flatMap(({ key, counter, clear, packet }) => [
    ...said(`seal ${key} ${counter} ${clear}`, `ok ${packet}`),
    ...said(`open ${key} ${packet}`, `ok ${counter} ${clear}`),
  ]);
  return [...stuffing, ...frames, ...damaged, ...pieces, ...records];
}

function sessionLines(): readonly string[] {
  const { deviceId, key, identity, steps } = sessionVector();
  const text = (value: string): string => hexOf(Buffer.from(value, 'latin1'));
  const { vendor, model, serial, firmware, abilities } = identity;
  const names = [vendor, model, serial, firmware].map(text).join(' ');
  return [
    ...said(`lock ${text(deviceId)} ${key} - ${names} ${abilities}`),
    ...steps.flatMap(({ note, input, effects }) => [`# ${note}`, ...said(input, ...effects)]),
  ];
}

/** File → text, as firmware-protocol should hold them. */
export function linkFiles(): ReadonlyMap<string, string> {
  const lines = [
    '# Written by tools/generate-link-vectors.ts; do not edit.',
    ...messageLines(),
    ...unsendableLines(),
    ...transportLines(),
    ...sessionLines(),
  ];
  return new Map([
    ['link/link.cddl', linkCddl()],
    ['link/vectors/messages.json', json(messageVectors())],
    ['link/vectors/malformed.json', json(malformedVectors())],
    ['link/vectors/stuffing.json', json(stuffingVectors())],
    ['link/vectors/serial-frames.json', json(frameVectors())],
    ['link/vectors/pieces.json', json(pieceVectors())],
    ['link/vectors/records.json', json(recordVectors())],
    ['link/vectors/session.json', json(sessionVector())],
    ['c/vectors.txt', `${lines.join('\n')}\n`],
  ]);
}

/** What firmware-protocol holds under that name. */
export function writtenLinkFile(name: string): string {
  return readFileSync(join(folder, name), 'utf8');
}

if (import.meta.main) for (const [name, text] of linkFiles()) writeFileSync(join(folder, name), text);
