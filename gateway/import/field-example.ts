/** A value that would do, for each field of an import set; shown beside what is wrong. */
import type { Section } from './section.ts';

const validity = { validFrom: '"2026-04-01T09:00"', validUntil: '"2027-03-31T18:00"' } as const;
const identity = (id: string, name: string) => ({ id: `"${id}"`, name: `"${name}"` });
const input = '{"device": "io-1", "input": 0}';
const rule = '"never", "always" or {"schedule": "night"}';

const examples: Readonly<Record<Section, Readonly<Record<string, string>>>> = {
  facility: { ...identity('hall', 'City Hall'), zone: '"Asia/Tokyo"' },
  schedules: {
    ...identity('office', 'Office hours'),
    weekly: '[{"days": ["mon", "tue"], "from": "08:00", "until": "19:00"}]',
    onHolidays: '[{"from": "10:00", "until": "16:00"}]',
  },
  holidays: { ...identity('new-year', 'New Year'), date: '"2027-01-01"' },
  doors: {
    ...identity('front', 'Front door'),
    lock: '{"device": "io-1", "output": 0, "release": "energise"}',
    contact: input,
    rex: input,
    fire: input,
    strikeMs: '5000',
    extendedStrikeMs: '15000',
    heldMs: '30000',
    extendedHeldMs: '60000',
    heldWarningMs: '10000',
    relockOnOpen: 'true',
    debounceMs: '50',
    rexReleases: 'false',
    secondFactor: rule,
    escort: rule,
    antiPassback: '{"mode": "soft", "when": "always"}',
    firstPerson: rule,
    freeSchedule: '"office"',
    interlockGroup: '"airlock"',
  },
  readers: {
    ...identity('front-out', 'Front door, outside'),
    door: '"front"',
    device: '"reader-1"',
    head: '0',
    fromArea: '"lobby"',
    toArea: '"office"',
    uidOrder: '"as-sent" or "reversed"',
    cardFormats: '["H10302"]',
  },
  holders: identity('aiko', 'Aiko Mori'),
  credentials: {
    id: '"aiko-card"',
    holder: '"aiko"',
    card: '{"format": "H10301", "facility": 12, "number": 3456} or {"bitCount": 26, "hex": "0c06c080"}',
    pin: '"482913"',
    status: '"issued", "suspended" or "revoked"',
    ...validity,
    leaseMs: '86400000 or "unlimited"',
    usesMax: '10',
    isDuress: 'true',
    overridesLockdown: 'true',
    needsExtendedTime: 'true',
    isFirstPerson: 'true',
  },
  grants: {
    id: '"staff"',
    credentials: '["aiko-card"]',
    doors: '["front", "office"]',
    schedule: '"office"',
    ...validity,
  },
};

/** @param field as a path, such as `lock.output`; its first step has the example. */
export function fieldExample(section: Section, field: string): string {
  const outer = field.split(/[.[]/)[0] ?? '';
  return examples[section][outer] ?? '';
}

/** The fields a row of this section may have. */
export function knownFields(section: Section): readonly string[] {
  return Object.keys(examples[section]);
}
