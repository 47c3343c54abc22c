import { describe, expect, it } from 'vitest';
import { contactAgeMs } from '#gateway/door/contact-age.ts';
import type { ClockFact } from '#gateway/door/facts.ts';
import { monoMs, wallMs } from '#shared/instant.ts';

const trusted = (now: number): ClockFact => ({ state: 'trusted', now: wallMs(now), errorMs: 1_000 });
const untrusted: ClockFact = { state: 'untrusted', now: undefined, errorMs: 0 };
const contact = { bootId: 'boot-1', at: monoMs(5_000), wall: wallMs(1_000_000) };

describe('the age of the last contact', () => {
  it('is monotonic within one boot, whatever the clock says', () => {
    const now = { bootId: 'boot-1', at: monoMs(8_000) };
    expect(contactAgeMs(contact, { ...now, clock: untrusted })).toBe(3_000);
    expect(contactAgeMs(contact, { ...now, clock: trusted(99) })).toBe(3_000);
  });

  it('survives a reboot by the wall, where both ends are known', () => {
    const now = { bootId: 'boot-2', at: monoMs(10) };
    expect(contactAgeMs(contact, { ...now, clock: trusted(1_060_000) })).toBe(60_000);
    expect(contactAgeMs(contact, { ...now, clock: untrusted })).toBe('unknown');
    expect(contactAgeMs({ ...contact, wall: undefined }, { ...now, clock: trusted(1_060_000) })).toBe('unknown');
  });

  it('is unknown without any contact, or with one that lies ahead', () => {
    const now = { bootId: 'boot-2', at: monoMs(10) };
    expect(contactAgeMs(undefined, { ...now, clock: trusted(1) })).toBe('unknown');
    expect(contactAgeMs(contact, { ...now, clock: trusted(998_999) })).toBe('unknown');
    expect(contactAgeMs(contact, { ...now, clock: trusted(999_500) })).toBe(0);
  });
});
