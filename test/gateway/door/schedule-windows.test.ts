import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileSchedule, facilityDay, isKnownZone } from '#gateway/door/schedule-windows.ts';
import { isInside } from '#gateway/door/wall-windows.ts';
import { scheduleRow, type Weekday, weekday } from '#shared/contract/replica-row.ts';
import { type WallWindow, wallMs } from '#shared/instant.ts';
import { civilClock, insideByMinute } from './civil-oracle.ts';

const full = process.env['KANNUKI_FULL'] === '1';
/** Asking every minute is slow, ms. */
const patienceMs = full ? 600_000 : 60_000;
const dayMs = 86_400_000;
const everyDay = [...weekday.options];
const utc = (text: string) => wallMs(Date.parse(`${text}Z`));
const range = (from: string, days: number): WallWindow => ({
  from: utc(`${from}T00:00`),
  until: wallMs(utc(`${from}T00:00`) + days * dayMs),
});

interface Interval {
  readonly days?: readonly Weekday[];
  readonly from: string;
  readonly until: string;
}

const schedule = (weekly: readonly Interval[], onHolidays: readonly Omit<Interval, 'days'>[] = []) =>
  scheduleRow.parse({
    id: 'office',
    name: 'Office',
    weekly: weekly.map((interval) => ({ days: everyDay, ...interval })),
    onHolidays,
    version: 1,
  });

const granting = (zone: string, when: WallWindow, weekly: readonly Interval[], holidays: readonly string[] = []) =>
  compileSchedule(schedule(weekly), {
    zone,
    holidays: holidays.map((date) => ({ date })),
    range: when,
    use: 'granting',
  });

/** Windows as UTC text, for a reader’s eye. */
const shown = (windows: readonly WallWindow[]) => windows.map(({ from, until }) => `${iso(from)}–${iso(until)}`);
const iso = (at: number) => new Date(at).toISOString().slice(0, 16);

/** Restricting windows without what lies outside the compiled range. */
const restricting = (zone: string, when: WallWindow, weekly: readonly Interval[]) =>
  compileSchedule(schedule(weekly), { zone, holidays: [], range: when, use: 'restricting' }).windows.flatMap(
    ({ from, until }) => {
      const inner = { from: wallMs(Math.max(from, when.from)), until: wallMs(Math.min(until, when.until)) };
      return inner.from < inner.until ? [inner] : [];
    },
  );

describe('a schedule on an ordinary day', () => {
  it('is civil time in the facility’s zone', () => {
    const { windows } = granting('Asia/Tokyo', range('2026-06-01', 1), [{ from: '09:00', until: '18:00' }]);
    expect(shown(windows)).toEqual(['2026-06-01T00:00–2026-06-01T09:00']);
  });

  it('ends the next day where its end is not after its start, and at midnight where it says 24:00', () => {
    const night = granting('Asia/Kathmandu', range('2026-06-01', 1), [
      { days: ['mon'], from: '22:00', until: '06:00' },
    ]);
    expect(shown(night.windows)).toEqual(['2026-06-01T16:15–2026-06-02T00:00']);
    const evening = granting('Asia/Tokyo', range('2026-06-01', 1), [{ from: '20:00', until: '24:00' }]);
    expect(shown(evening.windows)).toEqual(['2026-06-01T11:00–2026-06-01T15:00']);
    const round = granting('Asia/Tokyo', range('2026-06-01', 2), [{ from: '07:00', until: '07:00' }]);
    expect(shown(round.windows)).toEqual(['2026-06-01T00:00–2026-06-03T00:00']);
  });

  it('joins what overlaps or touches', () => {
    const { windows } = granting('Asia/Tokyo', range('2026-06-01', 1), [
      { from: '12:00', until: '18:00' },
      { from: '09:00', until: '12:00' },
      { from: '11:00', until: '13:00' },
    ]);
    expect(shown(windows)).toEqual(['2026-06-01T00:00–2026-06-01T09:00']);
  });

  it('gives way to a holiday’s own hours; a night that began the day before runs into it', () => {
    const row = schedule([{ from: '22:00', until: '02:00' }], [{ from: '10:00', until: '12:00' }]);
    const { windows } = compileSchedule(row, {
      zone: 'Asia/Tokyo',
      holidays: [{ date: '2026-06-02' }],
      range: { from: utc('2026-06-01T12:00'), until: utc('2026-06-03T12:00') },
      use: 'granting',
    });
    expect(shown(windows)).toEqual(['2026-06-01T13:00–2026-06-01T17:00', '2026-06-02T01:00–2026-06-02T03:00']);
  });
});

describe('a skipped hour (London, 29 March 2026, 01:00 to 02:00)', () => {
  const day = range('2026-03-29', 1);

  it('moves a start in it to its end and an end in it to its start', () => {
    expect(shown(granting('Europe/London', day, [{ from: '01:30', until: '03:00' }]).windows)).toEqual([
      '2026-03-29T01:00–2026-03-29T02:00',
    ]);
    expect(shown(granting('Europe/London', day, [{ days: ['sun'], from: '00:00', until: '01:30' }]).windows)).toEqual([
      '2026-03-29T00:00–2026-03-29T01:00',
    ]);
  });

  it('leaves nothing of an interval inside it, and says so', () => {
    const { windows, emptied } = granting('Europe/London', day, [{ from: '01:15', until: '01:45' }]);
    expect(windows.some((window) => isInside([window], utc('2026-03-29T01:00')))).toBe(false);
    expect(emptied).toEqual([{ date: '2026-03-29', from: '01:15', until: '01:45' }]);
  });
});

describe('a repeated hour (London, 25 October 2026, 01:00 to 02:00)', () => {
  const day = range('2026-10-25', 1);

  it('grants from the second start to the first end', () => {
    expect(shown(granting('Europe/London', day, [{ from: '01:30', until: '03:00' }]).windows)).toEqual([
      '2026-10-25T01:30–2026-10-25T03:00',
    ]);
    expect(shown(granting('Europe/London', day, [{ from: '01:00', until: '01:30' }]).windows)).toEqual([]);
    expect(granting('Europe/London', day, [{ from: '01:10', until: '01:30' }]).emptied).toEqual([
      { date: '2026-10-25', from: '01:10', until: '01:30' },
    ]);
  });

  it('takes a start or an end on its edge as any other that is shown twice', () => {
    const saturday = [{ days: ['sat' as const], from: '01:00', until: '01:00' }];
    const two = range('2026-10-24', 2);
    expect(shown(granting('Europe/London', two, saturday).windows)).toEqual(['2026-10-24T00:00–2026-10-25T00:00']);
    expect(shown(restricting('Europe/London', two, saturday))).toEqual(['2026-10-24T00:00–2026-10-25T01:00']);
  });

  it('restricts from the first start to the second end', () => {
    expect(shown(restricting('Europe/London', day, [{ from: '01:10', until: '01:30' }]))).toEqual([
      '2026-10-25T00:10–2026-10-25T01:30',
    ]);
  });

  it('may be half an hour long', () => {
    const lordHowe = range('2026-04-04', 1);
    const sunday = [{ days: ['sun' as const], from: '01:45', until: '03:00' }];
    expect(shown(granting('Australia/Lord_Howe', lordHowe, sunday).windows)).toEqual([
      '2026-04-04T15:15–2026-04-04T16:30',
    ]);
    expect(shown(restricting('Australia/Lord_Howe', lordHowe, sunday))).toEqual(['2026-04-04T14:45–2026-04-04T16:30']);
  });
});

describe('outside what was compiled', () => {
  const compiled = (use: 'granting' | 'restricting') =>
    compileSchedule(schedule([]), { zone: 'Asia/Tokyo', holidays: [], range: range('2026-06-01', 1), use }).windows;

  it('nothing is granted and everything restricted', () => {
    for (const at of [utc('2026-05-31T23:59'), utc('2026-06-02T00:00'), utc('2040-01-01T00:00')]) {
      expect(isInside(compiled('granting'), at)).toBe(false);
      expect(isInside(compiled('restricting'), at)).toBe(true);
    }
    expect(isInside(compiled('restricting'), utc('2026-06-01T12:00'))).toBe(false);
  });
});

describe('the facility’s day', () => {
  it.each([
    ['Asia/Tokyo', '2026-06-01T14:59', '2026-05-31T15:00', '2026-06-01T15:00'],
    ['Europe/London', '2026-03-29T12:00', '2026-03-29T00:00', '2026-03-29T23:00'],
    ['Europe/London', '2026-10-25T12:00', '2026-10-24T23:00', '2026-10-26T00:00'],
    // Midnight itself is skipped: the day begins at one.
    ['America/Santiago', '2026-09-06T12:00', '2026-09-06T04:00', '2026-09-07T03:00'],
  ])('in %s around %s', (zone, at, from, until) => {
    expect(shown([facilityDay(zone, utc(at))])).toEqual([`${from}–${until}`]);
  });

  it('needs a zone the runtime knows', () => {
    expect(isKnownZone('Asia/Tokyo')).toBe(true);
    expect(isKnownZone('Asia/Kyoto-by-the-river')).toBe(false);
  });
});

const zones = ['Asia/Tokyo', 'Europe/London', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu'];
/** Spans that hold the changes of each of these zones, and a plain week. */
const weeks = ['2026-03-06', '2026-03-27', '2026-04-02', '2026-06-10', '2026-10-02', '2026-10-23', '2026-10-30'];

const timeOfDay = fc
  .oneof(fc.integer({ min: 0, max: 1_439 }), fc.integer({ min: 55, max: 185 }), fc.constantFrom(0, 60, 90, 120, 180))
  .map((minute) => `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`);
const interval = fc.record({ from: timeOfDay, until: fc.oneof(timeOfDay, fc.constant('24:00')) });
const anySchedule = fc.record({
  weekly: fc.array(
    fc.record({ days: fc.subarray(everyDay, { minLength: 1 }), interval }).map(({ days, interval: span }) => ({
      days,
      ...span,
    })),
    { minLength: 1, maxLength: 3 },
  ),
  onHolidays: fc.array(interval, { maxLength: 2 }),
  holidays: fc.subarray([0, 1, 2, 3], { maxLength: 2 }),
});

describe.each(zones)('compiled windows in %s', (zone) => {
  it(
    'are what asking every minute finds',
    () => {
      fc.assert(
        fc.property(anySchedule, fc.constantFrom(...weeks), ({ weekly, onHolidays, holidays }, week) => {
          const when = range(week, 4);
          const row = scheduleRow.parse({ id: 's', name: 's', weekly, onHolidays, version: 1 });
          const dates = holidays.map((day) => ({ date: iso(when.from + day * dayMs).slice(0, 10) }));
          const expected = insideByMinute(row, dates, zone, when);
          for (const use of ['granting', 'restricting'] as const) {
            const { windows } = compileSchedule(row, { zone, holidays: dates, range: when, use });
            const differs = expected[use].findIndex(
              (inside, minute) => isInside(windows, wallMs(when.from + minute * 60_000)) !== inside,
            );
            expect(differs === -1 ? 'same' : `${use} differs at ${iso(when.from + differs * 60_000)}`).toBe('same');
          }
        }),
        { numRuns: full ? 200 : 12 },
      );
    },
    patienceMs,
  );

  it(
    'never grant a minute at which the clock shows a time outside the interval, nor free one inside it',
    () => {
      const clock = civilClock(zone);
      fc.assert(
        fc.property(timeOfDay, timeOfDay, fc.constantFrom(...weeks), (from, until, week) => {
          fc.pre(from < until);
          const when = range(week, 4);
          const granted = granting(zone, when, [{ from, until }]).windows;
          const restricted = restricting(zone, when, [{ from, until }]);
          for (let at = when.from as number; at < when.until; at += 15 * 60_000) {
            const time = new Date(clock(at)).toISOString().slice(11, 16);
            const isWritten = from <= time && time < until;
            if (isInside(granted, wallMs(at))) expect(isWritten).toBe(true);
            if (isWritten) expect(isInside(restricted, wallMs(at))).toBe(true);
          }
        }),
        { numRuns: full ? 200 : 10 },
      );
    },
    patienceMs,
  );
});

describe('the host’s own zone', () => {
  const script = `
    const { compileSchedule, facilityDay } = await import('#gateway/door/schedule-windows.ts');
    const weekly = [{ days: ['sun', 'mon'], from: '01:30', until: '24:00' }, { days: ['sat'], from: '22:00', until: '02:30' }];
    const range = { from: ${range('2026-03-01', 0).from}, until: ${range('2026-11-30', 0).from} };
    const out = ${JSON.stringify(zones)}.flatMap((zone) => ['granting', 'restricting'].map((use) =>
      [compileSchedule({ weekly, onHolidays: [] }, { zone, holidays: [{ date: '2026-05-04' }], range, use }), facilityDay(zone, range.from)]));
    process.stdout.write(JSON.stringify(out));
  `;

  it('changes nothing', () => {
    const digests = ['UTC', 'Pacific/Midway', 'Pacific/Kiritimati'].map((TZ) => {
      const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
        env: { ...process.env, TZ },
      });
      expect(out.length).toBeGreaterThan(1_000);
      return createHash('sha256').update(out).digest('hex');
    });
    expect(new Set(digests).size).toBe(1);
  });
});
