/** Which devices an import set names that the gateway's configuration does not have: told, since they may come later. */
import type { WrittenRows } from './read-rows.ts';

/** @param devices of the configuration. @returns one sentence for each device that is not among them. */
export function deviceWarnings({ doors, readers }: WrittenRows, devices: readonly string[]): readonly string[] {
  const known = new Set(devices);
  const users = new Map<string, string[]>();
  const use = (device: string | undefined, user: string) => {
    if (device === undefined || known.has(device)) return;
    const list = users.get(device) ?? [];
    if (!list.includes(user)) list.push(user);
    users.set(device, list);
  };
  for (const { row } of doors) {
    for (const wire of [row.lock, row.contact, row.rex, row.fire]) use(wire?.device, `door ${row.id}`);
  }
  for (const { row } of readers) use(row.device, `reader ${row.id}`);
  return [...users].map(([device, list]) => {
    const more = list.length > 3 ? ` and ${list.length - 3} more` : '';
    return `device ${device} is not in this gateway’s configuration; it is named by ${list.slice(0, 3).join(', ')}${more}`;
  });
}
