/**
 * Whether PINs can be guessed or mistaken: each once, and few enough where a PIN alone opens.
 *
 * Density: of all PINs of one length, at most one in a thousand may open a door; somebody who tries at random needs five
 * hundred tries on average, and the reader locks after five (duress PINs count: they open too).
 */
import type { ImportIssues } from './import-issue.ts';
import type { WrittenRows } from './read-rows.ts';

const possiblePerPin = 1_000;

export function checkPins(rows: WrittenRows, issues: ImportIssues): void {
  refuseTwins(rows.credentials, issues);
  refuseDensity(rows, issues);
}

function refuseTwins(credentials: WrittenRows['credentials'], issues: ImportIssues): void {
  const used = new Map<string, WrittenRows['credentials'][number]>();
  for (const credential of credentials) {
    const { pin, id } = credential.row;
    if (pin === undefined) continue;
    const other = used.get(pin);
    if (other === undefined) used.set(pin, credential);
    else {
      // The PIN itself is not repeated: messages are kept longer than import files.
      const rule = `is used twice: ${id} has the PIN of ${other.row.id} (line ${other.place.line})`;
      issues.add({ place: credential.place, field: 'pin', rule, example: '' });
    }
  }
}

function refuseDensity(rows: WrittenRows, issues: ImportIssues): void {
  const opening = openingPins(rows);
  for (const { place, row } of rows.doors) {
    // Where a card is always asked for first, a PIN alone opens nothing.
    if (row.secondFactor === 'always') continue;
    for (const [length, count] of countByLength(opening.get(row.id) ?? [])) {
      const most = 10 ** length / possiblePerPin;
      if (count <= most) continue;
      const rule = `opens to ${count} PINs of ${length} digits; at most ${most} of ${10 ** length} keep guessing hopeless`;
      issues.add({ place, field: '', rule, example: `PINs of ${length + 1} digits, or "secondFactor": "always"` });
    }
  }
}

/** The PINs that open each door, once each. */
function openingPins({ credentials, grants }: WrittenRows): ReadonlyMap<string, ReadonlySet<string>> {
  const pins = new Map<string, string>();
  for (const { row } of credentials) if (row.pin !== undefined && row.status !== 'revoked') pins.set(row.id, row.pin);
  const opening = new Map<string, Set<string>>();
  for (const { row } of grants) {
    const granted = row.credentials.map((id) => pins.get(id)).filter((pin) => pin !== undefined);
    for (const door of row.doors) {
      const known = opening.get(door) ?? new Set();
      for (const pin of granted) known.add(pin);
      opening.set(door, known);
    }
  }
  return opening;
}

function countByLength(pins: Iterable<string>): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const { length } of pins) counts.set(length, (counts.get(length) ?? 0) + 1);
  return counts;
}
