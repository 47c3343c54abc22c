import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { facilityDayStart, isZone, toFacilityDate } from '#shared/facility-date.ts';
import { wallMs } from '#shared/instant.ts';

const at = (text: string) => wallMs(Date.parse(text));

it.each([
  ['2026-03-31T14:59:59.999Z', 'Asia/Tokyo', '2026-03-31'],
  ['2026-03-31T15:00:00.000Z', 'Asia/Tokyo', '2026-04-01'],
  ['2026-03-29T00:59:59Z', 'Europe/London', '2026-03-29'],
  ['2026-10-24T23:30:00Z', 'Europe/London', '2026-10-25'],
  ['2026-03-08T04:59:59Z', 'America/New_York', '2026-03-07'],
  ['2026-11-01T03:59:59Z', 'America/New_York', '2026-10-31'],
  ['2026-04-04T12:59:59Z', 'Australia/Lord_Howe', '2026-04-04'],
  ['2026-04-04T13:00:00Z', 'Australia/Lord_Howe', '2026-04-05'],
  ['2011-12-30T09:59:59Z', 'Pacific/Apia', '2011-12-29'],
  ['2011-12-30T10:00:00Z', 'Pacific/Apia', '2011-12-31'],
])('tells %s in %s as %s', (instant, zone, date) => {
  expect(toFacilityDate(at(instant), zone)).toBe(date);
});

it.each([
  ['2026-04-01', 'Asia/Tokyo', '2026-03-31T15:00:00.000Z'],
  ['2026-03-29', 'Europe/London', '2026-03-29T00:00:00.000Z'],
  ['2026-03-30', 'Europe/London', '2026-03-29T23:00:00.000Z'],
  ['2026-11-02', 'America/New_York', '2026-11-02T05:00:00.000Z'],
  ['2026-04-06', 'Australia/Lord_Howe', '2026-04-05T13:30:00.000Z'],
  ['2018-11-04', 'America/Sao_Paulo', '2018-11-04T03:00:00.000Z'],
  ['2011-12-30', 'Pacific/Apia', '2011-12-30T10:00:00.000Z'],
])('begins the day %s in %s at %s, also where midnight is skipped', (date, zone, instant) => {
  expect(new Date(facilityDayStart(date, zone)).toISOString()).toBe(instant);
});

it('is a day long in every zone, whatever the clock does on it', () => {
  for (const zone of ['Asia/Tokyo', 'Europe/London', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu']) {
    for (let day = at('2026-01-01T12:00:00Z'); day < at('2027-01-01T00:00:00Z'); day = wallMs(day + 86_400_000)) {
      const date = toFacilityDate(day, zone);
      const start = facilityDayStart(date, zone);
      expect(toFacilityDate(start, zone), `${zone} ${date}`).toBe(date);
      expect(toFacilityDate(wallMs(start - 1), zone) < date, `${zone} ${date}`).toBe(true);
    }
  }
});

it('does not depend on the zone of the machine', () => {
  const program = `
    import { facilityDayStart, toFacilityDate } from '#shared/facility-date.ts';
    console.log(toFacilityDate(Date.parse('2026-03-31T15:00:00Z'), 'Asia/Tokyo'),
      facilityDayStart('2026-03-30', 'Europe/London'));`;
  for (const host of ['Pacific/Pago_Pago', 'Pacific/Kiritimati', 'America/New_York']) {
    const told = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      env: { ...process.env, TZ: host },
      encoding: 'utf8',
    });
    expect(told.trim(), host).toBe(`2026-04-01 ${Date.parse('2026-03-29T23:00:00Z')}`);
  }
});

it('knows a zone by its name only', () => {
  expect(['Asia/Tokyo', 'UTC', 'Europe/London'].every(isZone)).toBe(true);
  expect(['', '+09:00', 'Mars/Olympus', 'Asia/Tokyo ', '../etc'].some(isZone)).toBe(false);
});
