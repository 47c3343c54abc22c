/**
 * Reads a site file and checks it whole: form, names used twice, wires that end nowhere.
 *
 * Every mistake is reported at once with its path and rule. A door's wires (strike, contact, exit button, fire) end at
 * peripherals of one line, since one process plays a line and everything that hangs on it.
 */
import { printable } from '#shared/printable.ts';
import { configRule } from '../config-rule.ts';
import { readYaml } from '../system/read-yaml.ts';
import { type Site, type SiteDoor, type SitePeripheral, siteSchema } from './site-file.ts';

export type SiteParsing =
  | { readonly kind: 'site'; readonly site: Site }
  /** `path: rule`, in the order of the file. */
  | { readonly kind: 'invalid'; readonly issues: readonly string[] };

/** Reads YAML, of which JSON is a part. */
export function parseSite(text: string): SiteParsing {
  const reading = readYaml(text);
  if (reading.kind === 'value') return checkSite(reading.value);
  return { kind: 'invalid', issues: reading.issues.map(({ line, rule }) => `line ${line}: ${rule}`) };
}

export function checkSite(value: unknown): SiteParsing {
  const parsed = siteSchema.safeParse(value);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(
      (issue) => `${issue.path.map(String).join('.') || 'site'}: ${printable(configRule(issue))}`,
    );
    return { kind: 'invalid', issues };
  }
  const issues = [...repeatedNames(parsed.data), ...danglingWires(parsed.data)];
  return issues.length > 0 ? { kind: 'invalid', issues } : { kind: 'site', site: parsed.data };
}

const inputWires = ['contact', 'exitButton', 'fire'] as const;

/** @returns `path: rule` for each name, address, port or terminal that is used twice. */
function repeatedNames(site: Site): string[] {
  const seen = new Map<string, string>();
  const issues: string[] = [];
  const claim = (what: string, path: string) => {
    const owner = seen.get(what);
    if (owner !== undefined) issues.push(`${path}: ${what} is already used by ${owner}`);
    else seen.set(what, path);
  };
  for (const [i, line] of site.lines.entries()) {
    claim(`line ${line.id}`, `lines.${i}.id`);
    if ('serial' in line.wire) claim(`port ${line.wire.serial}`, `lines.${i}.wire`);
    else if (line.wire.port !== 0) claim(`port ${line.wire.port}`, `lines.${i}.wire`);
  }
  for (const [i, peripheral] of site.peripherals.entries()) {
    claim(`peripheral ${peripheral.id}`, `peripherals.${i}.id`);
    claim(`address ${peripheral.address} on ${peripheral.line}`, `peripherals.${i}.address`);
  }
  for (const [i, door] of site.doors.entries()) {
    claim(`door ${door.id}`, `doors.${i}.id`);
    claim(`output ${door.strike.output} of ${door.strike.peripheral}`, `doors.${i}.strike`);
    for (const wire of inputWires) {
      const point = door[wire];
      if (point !== null) claim(`input ${point.input} of ${point.peripheral}`, `doors.${i}.${wire}`);
    }
  }
  return issues;
}

/** @returns `path: rule` for each wire that ends nowhere, or on another line than its door's strike. */
function danglingWires(site: Site): string[] {
  const peripherals = new Map(site.peripherals.map((peripheral) => [peripheral.id, peripheral]));
  const lines = new Set(site.lines.map((line) => line.id));
  const lost = site.peripherals.flatMap((peripheral, i) =>
    lines.has(peripheral.line) ? [] : [`peripherals.${i}.line: there is no line ${peripheral.line}`],
  );
  return [...lost, ...site.doors.flatMap((door, i) => danglingOf(door, `doors.${i}`, peripherals))];
}

function danglingOf(
  door: SiteDoor,
  path: string,
  peripherals: ReadonlyMap<SitePeripheral['id'], SitePeripheral>,
): string[] {
  const home = peripherals.get(door.strike.peripheral)?.line;
  const wrong = (id: SitePeripheral['id'], index: number, of: 'inputs' | 'outputs'): string | undefined => {
    const peripheral = peripherals.get(id);
    if (peripheral === undefined) return `there is no peripheral ${id}`;
    if (index >= peripheral[of]) return `${id} has ${peripheral[of]} ${of}`;
    return peripheral.line === home ? undefined : `${id} is not on the strike’s line ${home}`;
  };
  const wires = inputWires.flatMap((wire) => {
    const point = door[wire];
    return point === null ? [] : [{ name: wire, issue: wrong(point.peripheral, point.input, 'inputs') }];
  });
  const strike = { name: 'strike', issue: wrong(door.strike.peripheral, door.strike.output, 'outputs') };
  const readers = door.readers
    .filter((reader) => !peripherals.has(reader))
    .map((reader) => ({ name: 'readers', issue: `there is no peripheral ${reader}` }));
  return [strike, ...wires, ...readers]
    .filter(({ issue }) => issue !== undefined)
    .map(({ name, issue }) => `${path}.${name}: ${issue}`);
}
