import { expect, it } from 'vitest';
import { deriveFeedRows, type FeedPutDraft, type SaidFacility } from '#cloud/credential/derive-feed-rows.ts';
import { credentialStatuses, randomFacility } from './said-facility.ts';

const seed = Number(process.env['KANNUKI_SEED'] ?? 20261130);
const cases = process.env['KANNUKI_FULL'] === '1' ? 2_000 : 200;

const keyOf = ({ kind, row }: FeedPutDraft): string =>
  kind === 'grant' ? `${kind} ${row.credential} ${row.door} ${row.grant}` : `${kind} ${row.id}`;

function each(check: (said: SaidFacility, rows: readonly FeedPutDraft[]) => void): void {
  for (let at = 0; at < cases; at += 1) {
    const said = randomFacility(seed + at);
    try {
      check(said, deriveFeedRows(said));
    } catch (error) {
      throw new Error(`seed ${seed + at}`, { cause: error });
    }
  }
}

it('gives no row twice', () => {
  each((_said, rows) => expect(new Set(rows.map(keyOf)).size).toBe(rows.length));
});

it('gives a grant row for exactly the doors that a live card or PIN is granted, alone or by group', () => {
  each((said, rows) => {
    const wanted: string[] = [];
    for (const grant of said.grants) {
      const credential = said.credentials.find(({ id }) => id === grant.credential);
      if (!credential?.lookup || !['issued', 'suspended'].includes(credential.status)) continue;
      for (const door of said.doors) {
        const named =
          'door' in grant.target
            ? grant.target.door === door.id
            : said.groups.get(grant.target.group)?.includes(door.id);
        if (named) wanted.push(`grant ${credential.id} ${door.id} ${grant.id}`);
      }
    }
    expect(
      rows
        .filter(({ kind }) => kind === 'grant')
        .map(keyOf)
        .sort(),
    ).toEqual(wanted.sort());
  });
});

it('names each credential, schedule and door to which a grant it gives refers', () => {
  each((_said, rows) => {
    const keys = new Set(rows.map(keyOf));
    for (const held of rows) {
      if (held.kind !== 'grant') continue;
      expect(keys).toContain(`credential ${held.row.credential}`);
      expect(keys).toContain(`door ${held.row.door}`);
      if (held.row.schedule !== null) expect(keys).toContain(`schedule ${held.row.schedule}`);
    }
  });
});

it('keeps the row of a credential that ended, says which way, and lets it open nothing', () => {
  each((said, rows) => {
    for (const held of rows) {
      if (held.kind !== 'credential') continue;
      const status = said.credentials.find(({ id }) => id === held.row.id)?.status;
      expect(held.row.status).toBe(status === 'expired' ? 'issued' : status);
      if (status === 'issued' || status === 'suspended') continue;
      expect(rows.some((other) => other.kind === 'grant' && other.row.credential === held.row.id)).toBe(false);
    }
  });
});

it('names no holder without a live key, and gives no pass', () => {
  each((said, rows) => {
    for (const held of rows) {
      if (held.kind === 'credential') expect(['card', 'pin']).toContain(held.row.kind);
      if (held.kind !== 'holder') continue;
      const isKeyed = said.credentials.some(
        ({ holder, status, lookup }) =>
          holder === held.row.id && lookup !== null && status !== 'revoked' && status !== 'expired',
      );
      expect(isKeyed).toBe(true);
    }
  });
});

it('gives the same rows for one holder alone as within the whole facility', () => {
  each((said, rows) => {
    for (const { id } of said.holders) {
      const own = new Set<string>(
        said.credentials.filter(({ holder }) => holder === id).map((credential) => credential.id),
      );
      const part: SaidFacility = {
        ...said,
        facility: undefined,
        holders: said.holders.filter((holder) => holder.id === id),
        credentials: said.credentials.filter((credential) => own.has(credential.id)),
        grants: said.grants.filter(({ credential }) => own.has(credential)),
      };
      const isOwn = (held: FeedPutDraft): boolean =>
        (held.kind === 'holder' && held.row.id === id) ||
        (held.kind === 'credential' && held.row.holder === id) ||
        (held.kind === 'grant' && own.has(held.row.credential));
      expect(deriveFeedRows(part).filter(isOwn)).toEqual(rows.filter(isOwn));
    }
  });
});

it('meets every status and every kind in its samples', () => {
  const seen = new Set<string>();
  each((said) => {
    for (const { status, kind } of said.credentials) seen.add(`${status} ${kind}`);
  });
  expect(seen.size).toBe(credentialStatuses.length * 3);
});
