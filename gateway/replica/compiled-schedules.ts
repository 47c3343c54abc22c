/**
 * Schedules of the live replica as UTC windows, so that a decision compares integers.
 *
 * Guarantees: windows cover yesterday to a week ahead of the time they are asked for; a time outside them compiles anew,
 * which is a few milliseconds on a decision that comes after a step of the clock. A schedule that is not there grants
 * nothing and restricts always, and so does every schedule while the time is unknown.
 */
import type { FacilityRow, HolidayRow, ScheduleRow } from '#shared/contract/replica-row.ts';
import type { ScheduleId } from '#shared/identifier.ts';
import { later, type WallMs, type WallWindow } from '#shared/instant.ts';
import type { RuleFact } from '../door/facts.ts';
import { type CompiledSchedule, compileSchedule, facilityDay, type ScheduleContext } from '../door/schedule-windows.ts';

export interface ScheduleSource {
  readonly facility: FacilityRow | undefined;
  readonly scheduleRows: ReadonlyMap<ScheduleId, ScheduleRow>;
  readonly holidays: readonly HolidayRow[];
}

const dayMs = 86_400_000;
const daysBefore = 1;
const daysAhead = 8;
const nothing: readonly WallWindow[] = [];

export class CompiledSchedules {
  #source: ScheduleSource = { facility: undefined, scheduleRows: new Map(), holidays: [] };
  #range: WallWindow | undefined;
  /** Inside it the compiled windows answer; beyond, a day from their end, they are made anew. */
  #trusted: WallWindow | undefined;
  readonly #granting = new Map<ScheduleId, CompiledSchedule>();
  readonly #restricting = new Map<ScheduleId, { readonly windows: readonly WallWindow[] }>();

  /** Takes rows that were just read; what was compiled from others is dropped. */
  take({ facility, scheduleRows, holidays }: ScheduleSource): void {
    this.#source = { facility, scheduleRows, holidays };
    this.#forget();
  }

  /** Compiles all of them around `now`: after an apply, at start, and once a day. */
  compileAll(now: WallMs): void {
    this.#forget();
    for (const id of this.#source.scheduleRows.keys()) {
      this.granting(id, now);
      this.restricting(id, now);
    }
  }

  granting(id: ScheduleId, now: WallMs | undefined): readonly WallWindow[] {
    return this.grantingOf(id, now)?.windows ?? nothing;
  }

  /** With what came out empty; `undefined` for a schedule that is not there, or while the time is unknown. */
  grantingOf(id: ScheduleId, now: WallMs | undefined): CompiledSchedule | undefined {
    if (now === undefined) return undefined;
    this.#reach(now);
    const known = this.#granting.get(id);
    if (known !== undefined) return known;
    const compiled = this.#compile(id, 'granting');
    if (compiled !== undefined) this.#granting.set(id, compiled);
    return compiled;
  }

  restricting(id: ScheduleId, now: WallMs | undefined): RuleFact {
    if (now === undefined) return 'always';
    this.#reach(now);
    const known = this.#restricting.get(id);
    if (known !== undefined) return known;
    const compiled = this.#compile(id, 'restricting');
    if (compiled === undefined) return 'always';
    const rule = { windows: compiled.windows };
    this.#restricting.set(id, rule);
    return rule;
  }

  #compile(id: ScheduleId, use: ScheduleContext['use']): CompiledSchedule | undefined {
    const { facility, scheduleRows, holidays } = this.#source;
    const schedule = scheduleRows.get(id);
    if (facility === undefined || schedule === undefined || this.#range === undefined) return undefined;
    return compileSchedule(schedule, { zone: facility.zone, holidays, range: this.#range, use });
  }

  /** Makes sure that what is compiled covers `now` and a day after. */
  #reach(now: WallMs): void {
    if (this.#trusted !== undefined && now >= this.#trusted.from && now < this.#trusted.until) return;
    this.#forget();
    const today = facilityDay(this.#source.facility?.zone ?? 'UTC', now);
    this.#range = { from: later(today.from, -daysBefore * dayMs), until: later(today.from, daysAhead * dayMs) };
    this.#trusted = { from: this.#range.from, until: later(this.#range.until, -dayMs) };
  }

  #forget(): void {
    this.#granting.clear();
    this.#restricting.clear();
    this.#range = undefined;
    this.#trusted = undefined;
  }
}
