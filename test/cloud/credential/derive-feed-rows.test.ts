import { expect, it } from 'vitest';
import { deriveFeedRows, type HeldRow, type SaidFacility } from '#cloud/credential/derive-feed-rows.ts';
import { credentialStatuses, randomFacility } from './said-facility.ts';

const seed = Number(process.env['KANNUKI_SEED'] ?? 20261130);
const cases = process.env['KANNUKI_FULL'] === '1' ? 2_000 : 200;
const gateways = ['g1', 'g2', 'g3'];

const keyOf = ({ kind, row }: HeldRow): string =>
  kind === 'grant' ? `${kind} ${row.credential} ${row.door} ${row.grant}` : `${kind} ${row.id}`;

function each(check: (said: SaidFacility, gateway: string, rows: readonly HeldRow[]) => void): void {
  for (let at = 0; at < cases; at += 1) {
    const said = randomFacility(seed + at);
    for (const gateway of gateways) {
      try {
        check(said, gateway, deriveFeedRows(said, gateway));
      } catch (error) {
        throw new Error(`seed ${seed + at}, gateway ${gateway}`, { cause: error });
      }
    }
  }
}

it('gives a gateway no row twice', () => {
  each((_said, _gateway, rows) => expect(new Set(rows.map(keyOf)).size).toBe(rows.length));
});

it('gives a gateway the doors that are bound to it and their readers, and no others', () => {
  each((said, gateway, rows) => {
    const bound = said.doors.filter((door) => door.gateway === gateway).map(({ id }) => id);
    expect(rows.filter(({ kind }) => kind === 'door').map(({ row }) => ('id' in row ? row.id : ''))).toEqual(bound);
    for (const held of rows) if (held.kind === 'reader') expect(bound).toContain(held.row.door);
  });
});

it('gives a grant row for exactly those doors of the gateway that a live credential is granted, alone or by group', () => {
  each((said, gateway, rows) => {
    const wanted: string[] = [];
    for (const grant of said.grants) {
      const credential = said.credentials.find(({ id }) => id === grant.credential);
      if (!credential?.lookup || !['issued', 'suspended'].includes(credential.status)) continue;
      for (const door of said.doors) {
        const named =
          'door' in grant.target
            ? grant.target.door === door.id
            : said.groups.get(grant.target.group)?.includes(door.id);
        if (named && door.gateway === gateway) wanted.push(`grant ${credential.id} ${door.id} ${grant.id}`);
      }
    }
    const got = rows.filter(({ kind }) => kind === 'grant').map(keyOf);
    expect(got.sort()).toEqual(wanted.sort());
  });
});

it('names each holder, schedule and door that a row it gives refers to', () => {
  each((_said, _gateway, rows) => {
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
  each((said, _gateway, rows) => {
    for (const held of rows) {
      if (held.kind !== 'credential') continue;
      const status = said.credentials.find(({ id }) => id === held.row.id)?.status;
      expect(held.row.status).toBe(status === 'expired' ? 'issued' : status);
      if (status === 'issued' || status === 'suspended') continue;
      expect(rows.some((other) => other.kind === 'grant' && other.row.credential === held.row.id)).toBe(false);
    }
  });
});

it('holds no holder who has no live credential near the gateway, and no pass', () => {
  each((said, _gateway, rows) => {
    for (const held of rows) {
      if (held.kind === 'credential') expect(['card', 'pin']).toContain(held.row.kind);
      if (held.kind !== 'holder') continue;
      const live = said.credentials.filter(
        ({ holder, status, lookup }) =>
          holder === held.row.id && lookup !== null && status !== 'revoked' && status !== 'expired',
      );
      expect(live.length).toBeGreaterThan(0);
    }
  });
});

it('gives a holder’s PIN along with the card, though only the card has a grant', () => {
  const said = randomFacility(seed);
  const [door] = said.doors;
  const [card, pin] = said.credentials;
  const [grant] = said.grants;
  if (!door || !card || !pin || !grant) throw new Error('the sample has too few rows');
  const alone: SaidFacility = {
    ...said,
    doors: [{ ...door, gateway: 'g1' }],
    credentials: [
      { ...card, kind: 'card', status: 'issued', lookup: 'a'.repeat(64) },
      { ...pin, holder: card.holder, kind: 'pin', status: 'issued', lookup: 'b'.repeat(64) },
    ],
    grants: [{ ...grant, credential: card.id, target: { door: door.id } }],
  };
  const ids = deriveFeedRows(alone, 'g1').flatMap(({ kind, row }) => (kind === 'credential' ? [row.id] : []));
  expect(ids).toEqual([card.id, pin.id]);
  expect(deriveFeedRows(alone, 'g2').filter(({ kind }) => kind === 'credential')).toEqual([]);
});

it('gives the same rows for one holder alone as within the whole facility', () => {
  each((said, gateway, rows) => {
    for (const { id } of said.holders) {
      const own = new Set(said.credentials.filter(({ holder }) => holder === id).map((credential) => credential.id));
      const part: SaidFacility = {
        ...said,
        holders: said.holders.filter((holder) => holder.id === id),
        credentials: said.credentials.filter((credential) => own.has(credential.id)),
        grants: said.grants.filter(({ credential }) => own.has(credential)),
      };
      const isOwn = ({ kind, row }: HeldRow): boolean =>
        (kind === 'holder' && row.id === id) ||
        (kind === 'credential' && row.holder === id) ||
        (kind === 'grant' && own.has(row.credential));
      expect(deriveFeedRows(part, gateway).filter(isOwn)).toEqual(rows.filter(isOwn));
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
