/** A small facility as an import set, for tests that need one to change. */
import type { SourceFile } from '#gateway/import/source-record.ts';

export interface WrittenSet {
  facility: Record<string, unknown>;
  schedules: Record<string, unknown>[];
  holidays: Record<string, unknown>[];
  doors: Record<string, unknown>[];
  readers: Record<string, unknown>[];
  holders: Record<string, unknown>[];
  credentials: Record<string, unknown>[];
  grants: Record<string, unknown>[];
}

/** Two doors, two people, a card each, and a PIN; without mistakes. */
export function writtenSet(): WrittenSet {
  return {
    facility: { id: 'hall', name: 'City Hall', zone: 'Asia/Tokyo' },
    schedules: [
      { id: 'office', name: 'Office hours', weekly: [{ days: ['mon', 'tue'], from: '08:00', until: '19:00' }] },
    ],
    holidays: [{ id: 'new-year', name: 'New Year', date: '2027-01-01' }],
    doors: [
      { id: 'front', name: 'Front door', lock: { device: 'io', output: 0 } },
      { id: 'vault', name: 'Vault', lock: { device: 'io', output: 1 }, secondFactor: 'always' },
    ],
    readers: [
      { id: 'front-out', name: 'Front, outside', door: 'front', device: 'reader-1' },
      { id: 'vault-out', name: 'Vault, outside', door: 'vault', device: 'reader-2' },
    ],
    holders: [
      { id: 'aiko', name: 'Aiko Mori' },
      { id: 'ben', name: 'Ben Okafor' },
    ],
    credentials: [
      { id: 'aiko-card', holder: 'aiko', card: { format: 'H10304', facility: 12, number: 3456 } },
      { id: 'ben-card', holder: 'ben', card: { bitCount: 48, hex: '0123456789ab' } },
      { id: 'aiko-pin', holder: 'aiko', pin: '482913' },
    ],
    grants: [
      { id: 'staff', credentials: ['aiko-card', 'ben-card'], doors: ['front'], schedule: 'office' },
      { id: 'vault', credentials: ['aiko-card'], doors: ['vault'], validUntil: '2027-03-31T18:00' },
    ],
  };
}

export function asJson(set: unknown): readonly SourceFile[] {
  return [{ name: 'facility.json', text: JSON.stringify(set, null, 2) }];
}
