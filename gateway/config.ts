/**
 * The gateway's configuration: one YAML file, one schema, one frozen value.
 *
 * The only reader of the configuration file. It says where things are (lines, devices, folders);
 * who may enter is not configuration, it is imported. Every mistake is reported at once, with its line, its rule and an example.
 * Not promised: that what it names exists; a missing device or disk is a state of the running gateway, not of this file.
 */
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { type Document, isMap, isScalar } from 'yaml';
import * as z from 'zod';
import { idSchema } from '#shared/contract/identifier.ts';
import { printable } from '#shared/printable.ts';
import { configExample } from './config-example.ts';
import { configRule, isCloudUrl, whole } from './config-rule.ts';
import { readYaml } from './system/read-yaml.ts';

const baud = z.union(
  [9600, 19_200, 38_400, 57_600, 115_200, 230_400].map((rate) => z.literal(rate)),
  {
    error: 'must be one of 9600, 19200, 38400, 57600, 115200, 230400',
  },
);
const path = z.string().min(1).max(4096);

const deviceSchema = z.strictObject({
  id: idSchema<'device'>().optional(),
  /** OSDP address of the device on its line. */
  address: whole(0, 126),
  /** `plain` lets this one device speak without encryption; anybody at the line can then open the door. */
  security: z.enum(['secure', 'plain']).default('secure'),
  /** File with the device's 16-byte key as 32 hexadecimal digits; without it the key comes from an installation. */
  keyFile: path.optional(),
  check: z.enum(['crc', 'checksum']).default('crc'),
});

const lineSchema = z
  .strictObject({
    id: idSchema<'line'>().optional(),
    serial: path.optional(),
    tcp: z
      .string()
      .regex(/^[A-Za-z0-9.:[\]-]{1,255}:\d{1,5}$/, 'must be host:port')
      .optional(),
    baud: baud.default(9600),
    devices: z.array(deviceSchema).min(1, 'must have at least one device').max(126, 'must have at most 126 devices'),
  })
  .refine((line) => (line.id ?? '').length <= 60 || line.devices.every(({ id }) => id !== undefined), {
    path: ['id'],
    error: 'must be at most 60 characters where a device has no id of its own, since that is made of it',
  })
  .refine((line) => (line.serial === undefined) !== (line.tcp === undefined), {
    error: 'must name exactly one of serial and tcp',
  });

const configSchema = z.strictObject({
  dataDir: path.default('/var/lib/kannuki'),
  /** Folder of the control sockets. */
  runDir: path.default('/run/kannuki'),
  /** The master key; by default the systemd credential `kannuki-master-key`, else `master.key` in `dataDir`. */
  masterKeyFile: path.optional(),
  language: z.enum(['en', 'ja']).default('en'),
  /** Where the cloud is, for who belongs to one; otherwise where the enrolment went. */
  cloud: z
    .strictObject({
      url: z.string().max(2048).refine(isCloudUrl, 'must be https://…, or http:// to this machine itself'),
      /** Authorities that sign the cloud's certificate, where the public ones do not; PEM. */
      caFile: path.optional(),
    })
    .optional(),
  /** Folder of the edge process, for the key of its own; by default `dataDir` with `-edge` behind it. */
  edgeDir: path.optional(),
  journal: z
    .strictObject({
      /** The journal's file may grow to this. */
      budgetMiB: whole(16, 65_536).default(1024),
      /** What happens at the budget while history has not been uploaded: lose the oldest (and say so), or grant nothing. */
      whenFull: z.enum(['overwrite', 'refuse']).default('overwrite'),
      retentionDays: whole(1, 3650).default(90),
    })
    .prefault({}),
  clock: z
    .strictObject({
      /** `kernel`: trusted while the kernel says it is synchronized. `assume`: for demonstrations only. */
      ntp: z.enum(['kernel', 'assume', 'none']).default('kernel'),
      /** A battery-backed clock that is known to be right. */
      rtc: z.boolean().default(false),
    })
    .prefault({}),
  lines: z.array(lineSchema).max(16, 'must have at most 16 lines').default([]),
});

type Parsed = z.infer<typeof configSchema>;
type DeviceConfig = Omit<Parsed['lines'][number]['devices'][number], 'id'> & {
  readonly id: ReturnType<typeof deviceIdOf>;
};
type LineConfig = Omit<Parsed['lines'][number], 'id' | 'devices'> & {
  readonly id: ReturnType<typeof lineIdOf>;
  readonly devices: readonly DeviceConfig[];
};

/** Paths are absolute: relative ones are meant from the file's own folder. */
export type Config = Readonly<Omit<Parsed, 'lines' | 'edgeDir'>> & {
  readonly lines: readonly LineConfig[];
  readonly edgeDir: string;
  readonly file: string;
};

export interface ConfigIssue {
  /** For example `lines[0].devices[1].address`. */
  readonly path: string;
  readonly line: number;
  readonly rule: string;
}

/** The file cannot be used. `issues` are all that was found, in the order of the file. */
export class ConfigError extends Error {
  readonly code = 'CONFIG_INVALID';
  readonly issues: readonly ConfigIssue[];

  constructor(file: string, issues: readonly ConfigIssue[]) {
    const lines = issues.map((issue) => `  ${file}:${issue.line}  ${issue.path}: ${issue.rule}`);
    super(`The configuration cannot be used.\n${lines.map(printable).join('\n')}\nExample:\n${configExample}`);
    this.issues = issues;
  }
}

/** There is no text to judge. */
class ConfigUnreadable extends Error {
  readonly code = 'CONFIG_INVALID';

  constructor(file: string, rule: string) {
    super(
      `The configuration file ${printable(file)} ${rule}.\nAnother one is named with --config FILE or KANNUKI_CONFIG.`,
    );
  }
}

/** @throws ConfigError naming the path, line and rule of every mistake; ConfigUnreadable where there is no file. */
export function loadConfig(file: string): Config {
  const absolute = resolve(file);
  const read = readText(absolute);
  if ('rule' in read) throw new ConfigUnreadable(file, read.rule);
  return parseConfig(read.text, absolute);
}

const unreadable: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EISDIR: 'is a folder',
  EACCES: 'may not be read by this user',
};

function readText(file: string): { readonly text: string } | { readonly rule: string } {
  try {
    const bytes = readFileSync(file);
    return isUtf8(bytes) ? { text: bytes.toString('utf8') } : { rule: 'is not UTF-8 text; save it as UTF-8' };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return { rule: unreadable[code] ?? `cannot be read (${code})` };
  }
}

/** As `loadConfig`, for text that came from `file`. */
export function parseConfig(text: string, file: string): Config {
  const reading = readYaml(text);
  if (reading.kind === 'invalid')
    throw new ConfigError(
      file,
      reading.issues.map((issue) => ({ path: '(yaml)', ...issue })),
    );
  const { value, document, lineAt } = reading;
  const parsed = configSchema.safeParse(value ?? {});
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) => ({
      path: pathText(issue.path),
      line: lineAt(offsetOf(document, issue)),
      rule: configRule(issue),
    }));
    throw new ConfigError(
      file,
      issues.sort((a, b) => a.line - b.line),
    );
  }
  const config = withDefaults(parsed.data, file);
  const clashes = findClashes(config).map((clash) => ({
    ...clash,
    line: lineAt(offsetOf(document, { path: clash.at })),
    path: pathText(clash.at),
  }));
  if (clashes.length > 0) throw new ConfigError(file, clashes);
  return deepFreeze(config);
}

const lineIdOf = (index: number) => idSchema<'line'>().parse(`line-${index + 1}`);
const deviceIdOf = (line: string, address: number) => idSchema<'device'>().parse(`${line}-${address}`);

function withDefaults(parsed: Parsed, file: string): Config {
  const from = (name: string) => (isAbsolute(name) ? name : join(dirname(file), name));
  const lines = parsed.lines.map((line, index) => {
    const id = line.id ?? lineIdOf(index);
    const devices = line.devices.map((device) => ({
      ...device,
      id: device.id ?? deviceIdOf(id, device.address),
      ...(device.keyFile === undefined ? {} : { keyFile: from(device.keyFile) }),
    }));
    const serial = line.serial === undefined ? {} : { serial: from(line.serial) };
    return { ...line, ...serial, id, devices };
  });
  return {
    ...parsed,
    file,
    dataDir: from(parsed.dataDir),
    runDir: from(parsed.runDir),
    edgeDir: from(parsed.edgeDir ?? `${parsed.dataDir}-edge`),
    ...(parsed.cloud?.caFile === undefined ? {} : { cloud: { ...parsed.cloud, caFile: from(parsed.cloud.caFile) } }),
    ...(parsed.masterKeyFile === undefined ? {} : { masterKeyFile: from(parsed.masterKeyFile) }),
    lines,
  };
}

type Path = readonly PropertyKey[];

/** Rules over several parts of the file. */
function findClashes(config: Config): { readonly at: Path; readonly rule: string }[] {
  const clashes: { at: Path; rule: string }[] = [];
  const seen = new Map<string, string>();
  const claim = (key: string, what: string, at: Path) => {
    const owner = seen.get(key);
    if (owner !== undefined) clashes.push({ at, rule: `${what} is already used by ${owner}` });
    else seen.set(key, pathText(at));
  };
  for (const [i, line] of config.lines.entries()) {
    claim(`line ${line.id}`, `id ${line.id}`, ['lines', i]);
    claim(`port ${line.serial ?? line.tcp}`, `${line.serial ?? line.tcp}`, [
      'lines',
      i,
      line.serial === undefined ? 'tcp' : 'serial',
    ]);
    for (const [k, device] of line.devices.entries()) {
      const at: Path = ['lines', i, 'devices', k];
      claim(`device ${device.id}`, `id ${device.id}`, at);
      claim(`address ${line.id} ${device.address}`, `address ${device.address}`, [...at, 'address']);
      if (device.security === 'plain' && device.keyFile !== undefined) {
        clashes.push({
          at: [...at, 'security'],
          rule: 'plain and keyFile contradict each other: a device with a key is never spoken to in plain',
        });
      }
    }
  }
  return clashes;
}

function pathText(path: Path): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return text.replace(/^\./, '') || '(file)';
}

/** Where the named node, or the nearest one that exists above it, begins in the text. */
function offsetOf(
  document: Document,
  issue: { readonly path: Path; readonly code?: string; readonly keys?: readonly string[] },
): number {
  const extra = issue.keys?.[0];
  for (let length = issue.path.length; length >= 0; length -= 1) {
    const node = document.getIn(issue.path.slice(0, length), true);
    if (extra !== undefined && isMap(node)) {
      const pair = node.items.find((item) => isScalar(item.key) && item.key.value === extra);
      if (isScalar(pair?.key) && pair.key.range) return pair.key.range[0];
    }
    const range = (node as { readonly range?: readonly number[] | null } | undefined)?.range;
    if (range) return range[0] ?? 0;
  }
  return 0;
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}
