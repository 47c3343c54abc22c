/** What is said of a small facility, at random, the same for the same seed. */
import type { SaidCredential, SaidFacility, SaidGrant } from '#cloud/credential/derive-feed-rows.ts';
import { doorRow, readerRow } from '#shared/contract/replica-row.ts';
import { identifier } from '#shared/identifier.ts';
import { wallMs } from '#shared/instant.ts';
import { seededRandom } from '../../fakes/seeded-random.ts';

export const credentialStatuses = ['issued', 'suspended', 'revoked', 'expired'] as const;

const many = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at));

export function randomFacility(seed: number): SaidFacility {
  const random = seededRandom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const pick = <Item>(items: readonly Item[]): Item => {
    const item = items[below(items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  };
  const {
    id: _d,
    name: _n,
    version: _v,
    ...doorSettings
  } = doorRow.parse({ id: 'd', name: 'd', lock: null, version: 1 });
  const {
    id: _r,
    name: _m,
    door: _o,
    version: _w,
    ...readerSettings
  } = readerRow.parse({
    id: 'r',
    name: 'r',
    door: 'd',
    device: 'dev',
    version: 1,
  });
  const doors = many(6, (at) => ({
    id: identifier<'door'>(`d${at}`),
    name: `Door ${at}`,
    settings: doorSettings,
  }));
  const holders = many(5, (at) => ({ id: identifier<'holder'>(`h${at}`), name: `Holder ${at}` }));
  const schedules = many(2, (at) => ({
    id: identifier<'schedule'>(`s${at}`),
    name: `Schedule ${at}`,
    weekly: [],
    onHolidays: [],
  }));
  const groups = new Map(many(3, (at) => [`dg${at}`, doors.filter(() => below(2) === 0).map(({ id }) => id)] as const));
  const credentials = many(12, (at): SaidCredential => {
    const kind = pick(['card', 'pin', 'pass'] as const);
    return {
      id: identifier<'credential'>(`c${at}`),
      holder: pick(holders).id,
      kind,
      lookup: kind === 'pass' || below(6) === 0 ? null : String(at).padStart(64, '0'),
      status: pick(credentialStatuses),
      validFrom: null,
      validUntil: below(2) === 0 ? null : wallMs(below(1_000_000)),
      leaseMs: below(2) === 0 ? null : 60_000,
      usesMax: null,
      isDuress: false,
      overridesLockdown: false,
      needsExtendedTime: false,
      isFirstPerson: false,
    };
  });
  const grants = many(20, (at): SaidGrant => {
    return {
      id: identifier<'grant'>(`x${at}`),
      credential: pick(credentials).id,
      target: below(2) === 0 ? { door: pick(doors).id } : { group: pick([...groups.keys()]) },
      schedule: below(2) === 0 ? null : pick(schedules).id,
      validFrom: null,
      validUntil: null,
    };
  });
  return {
    facility: { id: identifier<'facility'>('fac'), name: 'Facility', zone: 'Asia/Tokyo', pinSalt: '00'.repeat(16) },
    schedules,
    holidays: [],
    doors,
    readers: doors.map(({ id }) => ({
      id: identifier<'reader'>(`r-${id}`),
      name: 'Reader',
      door: id,
      settings: readerSettings,
    })),
    groups,
    holders,
    credentials,
    grants,
  };
}
