/**
 * How the flat cells of a CSV row make the nested row that JSON writes directly.
 *
 * A column is named by its path in the JSON form (`lock.device`); an empty cell is a field left out. Lists are separated by
 * spaces. What a cell means depends on its column alone, so that a card number is never mistaken for another kind of value.
 */
import type { Section } from './section.ts';

type Cell = 'text' | 'number' | 'boolean' | 'list' | 'rule';
type Shape = Readonly<Record<string, Cell>>;

const input = (name: string): Shape => ({
  [`${name}.device`]: 'text',
  [`${name}.input`]: 'number',
  [`${name}.activeWhenTrue`]: 'boolean',
  [`${name}.supervised`]: 'boolean',
});

const validity: Shape = { validFrom: 'text', validUntil: 'text' };

/** The columns each file may have. `schedules` has a row for each interval; see `csv-schedules.ts`. */
export const csvColumns: Readonly<Record<Section, Shape>> = {
  facility: { id: 'text', name: 'text', zone: 'text' },
  schedules: { id: 'text', name: 'text', days: 'list', from: 'text', until: 'text' },
  holidays: { id: 'text', name: 'text', date: 'text' },
  doors: {
    id: 'text',
    name: 'text',
    'lock.device': 'text',
    'lock.output': 'number',
    'lock.release': 'text',
    ...input('contact'),
    ...input('rex'),
    ...input('fire'),
    strikeMs: 'number',
    extendedStrikeMs: 'number',
    heldMs: 'number',
    extendedHeldMs: 'number',
    heldWarningMs: 'number',
    relockOnOpen: 'boolean',
    debounceMs: 'number',
    rexReleases: 'boolean',
    secondFactor: 'rule',
    escort: 'rule',
    'antiPassback.mode': 'text',
    'antiPassback.when': 'rule',
    firstPerson: 'rule',
    freeSchedule: 'text',
    interlockGroup: 'text',
  },
  readers: {
    id: 'text',
    name: 'text',
    door: 'text',
    device: 'text',
    head: 'number',
    fromArea: 'text',
    toArea: 'text',
    uidOrder: 'text',
    cardFormats: 'list',
  },
  holders: { id: 'text', name: 'text' },
  credentials: {
    id: 'text',
    holder: 'text',
    'card.bits': 'text',
    'card.bitCount': 'number',
    'card.hex': 'text',
    'card.format': 'text',
    'card.facility': 'number',
    'card.number': 'number',
    pin: 'text',
    status: 'text',
    ...validity,
    leaseMs: 'number',
    usesMax: 'number',
    isDuress: 'boolean',
    overridesLockdown: 'boolean',
    needsExtendedTime: 'boolean',
    isFirstPerson: 'boolean',
  },
  grants: { id: 'text', credentials: 'list', doors: 'list', schedule: 'text', ...validity },
};

/** What a cell stands for; text that does not fit its column stays text, for the schema to refuse. */
export function cellValue(cell: Cell, text: string): unknown {
  switch (cell) {
    case 'number':
      return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
    case 'boolean':
      return booleans.get(text) ?? text;
    case 'list':
      return text.split(/\s+/);
    case 'rule':
      return text === 'never' || text === 'always' ? text : { schedule: text };
    case 'text':
      return text;
  }
}

const booleans = new Map([
  ['true', true],
  ['false', false],
]);

/** Puts `value` at a dotted path of at most two steps. */
export function putAt(row: Record<string, unknown>, path: string, value: unknown): void {
  const [outer = path, inner] = path.split('.');
  if (inner === undefined) {
    row[outer] = value;
    return;
  }
  const nested = (row[outer] ?? {}) as Record<string, unknown>;
  nested[inner] = value;
  row[outer] = nested;
}
