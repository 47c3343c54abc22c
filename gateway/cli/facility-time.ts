/** Times as people at the facility read them. */

/** `14:03:22` today, else `2026-01-31 14:03:22`, in the facility's zone (UTC, said so, where there is none). */
export function facilityTime(at: number, zone: string | undefined, now = Date.now()): string {
  const text = (instant: number) =>
    new Intl.DateTimeFormat('sv-SE', { timeZone: zone ?? 'UTC', dateStyle: 'short', timeStyle: 'medium' }).format(
      instant,
    );
  const [date, time] = text(at).split(' ');
  const [today] = text(now).split(' ');
  const shown = date === today ? `${time}` : `${date} ${time}`;
  return zone === undefined ? `${shown} UTC` : shown;
}
