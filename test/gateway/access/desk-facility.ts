/** A facility with a door for every rule, and somebody for every way a request can end. */
import type { CardBits } from '#gateway/door/access-request.ts';
import { encodeCard } from '#protocol/wiegand/encode-card.ts';
import { h10304 } from '#protocol/wiegand/standard-formats.ts';

const facilityCode = 52_013;
const numbers = {
  aiko: 481_201,
  mei: 481_202,
  coin: 481_203,
  revoked: 481_204,
  suspended: 481_205,
  expired: 481_206,
  early: 481_207,
  nowhere: 481_208,
  hours: 481_209,
  leased: 481_210,
  opener: 481_211,
  brigade: 481_212,
  slow: 481_213,
  duress: 481_214,
  stranger: 481_999,
} as const;
export type Person = keyof typeof numbers;

export const pins = {
  aiko: '73917426',
  duress: '73918503',
  mei: '82046391',
  door: '60418257',
  wrong: '11122299',
} as const;
export const holderNames = { aiko: 'Zephyrine Quixwood', mei: 'Ottoline Brakspear' } as const;

export function cardOf(person: Person): CardBits {
  const bits = encodeCard(h10304, { facility: facilityCode, number: numbers[person] });
  if (bits === undefined) throw new Error(`no card for ${person}`);
  return bits;
}

/** Every way in which a secret of this facility could stand in a file or a log in clear. */
export function secretsInClear(): readonly string[] {
  const cards = (Object.keys(numbers) as Person[]).flatMap((person) => {
    const { bytes, bitCount } = cardOf(person);
    const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
    const hex = Buffer.from(bytes).toString('hex');
    const raw = Buffer.from(bytes).toString('latin1');
    return [String(numbers[person]), bits.slice(0, bitCount), hex, raw, Buffer.from(bytes).toString('base64')];
  });
  return [...cards, ...Object.values(pins)];
}

interface DoorSpec {
  readonly id: string;
  readonly rules?: object;
  readonly readers?: readonly { readonly id: string; readonly from: string | null; readonly to: string | null }[];
}

const doors: readonly DoorSpec[] = [
  { id: 'front' },
  { id: 'side' },
  { id: 'vault', rules: { secondFactor: 'always' } },
  { id: 'lab', rules: { escort: 'always' } },
  { id: 'bank-a', rules: { interlockGroup: 'bank' } },
  { id: 'bank-b', rules: { interlockGroup: 'bank' } },
  {
    id: 'zone',
    rules: { antiPassback: { mode: 'hard', when: 'always' } },
    readers: [
      { id: 'zone-in', from: null, to: 'zone' },
      { id: 'zone-out', from: 'zone', to: null },
    ],
  },
  {
    id: 'soft',
    rules: { antiPassback: { mode: 'soft', when: 'always' } },
    readers: [{ id: 'soft-in', from: null, to: 'soft' }],
  },
  { id: 'dawn', rules: { firstPerson: 'always' } },
  { id: 'shop', rules: { freeSchedule: 'shop-hours' } },
  { id: 'morning', rules: { freeSchedule: 'shop-hours', firstPerson: 'always' } },
];
export const deskDoors: readonly string[] = doors.map(({ id }) => id);
/** Every lock and contact hangs on this board: door n on output n and input n; fire of `front` on input 60. */
export const board = 'board';
export const fireInput = 60;
export const pointOf = (door: string): number => deskDoors.indexOf(door);
export const readerIds: readonly string[] = doors.flatMap(({ id, readers }) => readers?.map((own) => own.id) ?? [id]);

const doorRow = ({ id, rules }: DoorSpec, index: number) => ({
  id,
  name: `Door ${id}`,
  lock: { device: board, output: index },
  contact: { device: board, input: index },
  ...(id === 'front' ? { fire: { device: board, input: fireInput } } : {}),
  debounceMs: 0,
  strikeMs: 2_000,
  ...rules,
});

const readerRows = ({ id, readers }: DoorSpec) =>
  (readers ?? [{ id, from: null, to: null }]).map((own) => ({
    id: own.id,
    name: `Reader ${own.id}`,
    door: id,
    device: `reader-${own.id}`,
    fromArea: own.from,
    toArea: own.to,
  }));

const holderOf = (person: Person): string => (person === 'duress' ? 'aiko' : person);
const parts: Partial<Record<Person, object>> = {
  coin: { usesMax: 1 },
  revoked: { status: 'revoked' },
  suspended: { status: 'suspended' },
  expired: { validUntil: '2026-01-14T00:00' },
  early: { validFrom: '2026-02-01T00:00' },
  leased: { leaseMs: 60_000 },
  opener: { isFirstPerson: true },
  brigade: { overridesLockdown: true },
  slow: { needsExtendedTime: true },
  duress: { isDuress: true },
};

/** As `import` takes it. @param change replaces whole sections. */
export function deskFacility(change: object = {}): object {
  const people = (Object.keys(numbers) as Person[]).filter((person) => person !== 'stranger');
  const names: Readonly<Record<string, string>> = holderNames;
  const pin = (id: string, holder: string, digits: string, more: object = {}) => ({ id, holder, pin: digits, ...more });
  const everywhere = people.filter((person) => person !== 'nowhere' && person !== 'hours');
  return {
    facility: { id: 'desk', name: 'Desk', zone: 'Asia/Tokyo' },
    schedules: [
      { id: 'evenings', name: 'Evenings', weekly: [{ days: ['thu'], from: '18:00', until: '20:00' }] },
      { id: 'shop-hours', name: 'Shop hours', weekly: [{ days: ['thu', 'fri'], from: '13:00', until: '17:00' }] },
    ],
    doors: doors.map(doorRow),
    readers: doors.flatMap(readerRows),
    holders: people
      .filter((person) => person !== 'duress')
      .map((person) => ({ id: person, name: names[person] ?? `Holder ${person}` })),
    credentials: [
      ...people.map((person) => ({
        id: `${person}-card`,
        holder: holderOf(person),
        card: { format: 'H10304', facility: facilityCode, number: numbers[person] },
        ...parts[person],
      })),
      pin('aiko-pin', 'aiko', pins.aiko),
      pin('aiko-duress-pin', 'aiko', pins.duress, { isDuress: true }),
      pin('mei-pin', 'mei', pins.mei),
      pin('door-pin', 'mei', pins.door),
    ],
    grants: [
      { id: 'all', credentials: everywhere.map((person) => `${person}-card`), doors: deskDoors },
      { id: 'evenings', credentials: ['hours-card'], doors: deskDoors, schedule: 'evenings' },
      { id: 'pins', credentials: ['door-pin'], doors: ['front'] },
    ],
    ...change,
  };
}
