/** Whether each credential is one card or one PIN that can be read, no card has two owners, and whether a grant says each thing once. */
import { type CardReading, readWrittenCard } from '#protocol/wiegand/written-card.ts';
import { fieldExample } from './field-example.ts';
import type { ImportIssues, SourcePlace } from './import-issue.ts';
import { grantRowsMax } from './import-schema.ts';
import type { WrittenRows } from './read-rows.ts';

/** @returns warnings: cards that anyone can copy, counted by kind. */
export function checkCredentials(rows: WrittenRows, issues: ImportIssues): readonly string[] {
  const cloneable = new Map<string, number>();
  const owners = new Map<string, WrittenRows['credentials'][number]>();
  for (const credential of rows.credentials) {
    const card = checkCredential(credential, issues);
    if (card === undefined) continue;
    if (card.cloneableAs !== undefined) cloneable.set(card.cloneableAs, (cloneable.get(card.cloneableAs) ?? 0) + 1);
    const bits = Buffer.from(card.normalized).toString('latin1');
    const owner = owners.get(bits);
    if (owner === undefined) owners.set(bits, credential);
    else {
      const rule = `is the card of ${owner.row.id} (line ${owner.place.line})`;
      issues.add({ place: credential.place, field: 'card', rule, example: '' });
    }
  }
  checkGrants(rows.grants, issues);
  return [...cloneable].map(
    ([kind, count]) =>
      `${count} ${count === 1 ? 'card is' : 'cards are'} ${kind}, which anyone can copy: ask for a PIN too where it matters (secondFactor)`,
  );
}

function checkCredential(
  { place, row }: WrittenRows['credentials'][number],
  issues: ImportIssues,
): Extract<CardReading, { kind: 'card' }> | undefined {
  const hasOne = (row.card === undefined) !== (row.pin === undefined);
  if (!hasOne) {
    const rule =
      row.card === undefined
        ? 'must have a card or a pin'
        : 'must have a card or a pin, not both: a PIN is a row of its own';
    issues.add({ place, field: '', rule, example: fieldExample('credentials', 'card') });
  }
  if (row.card === undefined) return undefined;
  const card = readWrittenCard(row.card);
  if (card.kind === 'card') return card;
  issues.add({ place, field: card.field, rule: card.rule, example: fieldExample('credentials', 'card') });
  return undefined;
}

function checkGrants(grants: WrittenRows['grants'], issues: ImportIssues): void {
  let total = 0;
  for (const { place, row } of grants) {
    total += row.credentials.length * row.doors.length;
    refuseTwins(place, 'credentials', row.credentials, issues);
    refuseTwins(place, 'doors', row.doors, issues);
    if (total > grantRowsMax) {
      const rule = `makes more than ${grantRowsMax} pairs of credential and door, with those before it`;
      issues.add({ place, field: '', rule, example: '' });
      return;
    }
  }
}

function refuseTwins(
  place: SourcePlace,
  field: 'credentials' | 'doors',
  ids: readonly string[],
  issues: ImportIssues,
): void {
  if (new Set(ids).size === ids.length) return;
  const twice = ids.find((id, at) => ids.indexOf(id) !== at) ?? '';
  issues.add({ place, field, rule: `names ${twice} twice`, example: '' });
}
