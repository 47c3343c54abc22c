/**
 * The cloud's configuration: one YAML file, one schema, one frozen value. Without a file everything has its default: an
 * embedded database under the data folder, on this machine only.
 *
 * Secrets stand in files that it names. Every mistake is reported at once, with its line and rule.
 */
import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { type Document, LineCounter, parseDocument } from 'yaml';
import * as z from 'zod';
import { printable } from '#shared/printable.ts';

const path = z.string().min(1).max(4096);
const whole = (min: number, max: number) => z.int().min(min).max(max);
const address = z.strictObject({ host: z.string().min(1).max(255).default('127.0.0.1'), port: whole(0, 65_535) });

const configSchema = z.strictObject({
  dataDir: path.default('/var/lib/kannuki-cloud'),
  listen: address.prefault({ port: 8080 }),
  /** Health and metrics, for those who run it. */
  operations: address.prefault({ port: 9465 }),
  /** As people and gateways reach it; by default where it listens. */
  publicUrl: z.url({ protocol: /^https?$/ }).optional(),
  /** By default `cloud.key` in `dataDir`; made where there is none. */
  keyFile: path.optional(),
  language: z.enum(['en', 'ja']).default('en'),
  database: z
    .strictObject({
      /** A file with the connection string of an administrator; without it, and without DATABASE_URL, the embedded server. */
      urlFile: path.optional(),
      /** Where the embedded server keeps its data; by default `database` in `dataDir`. */
      embeddedDir: path.optional(),
      /** Port of the embedded server; 0 takes a free one. */
      embeddedPort: whole(0, 65_535).default(0),
      connections: whole(2, 200).default(20),
    })
    .prefault({}),
  sessions: z
    .strictObject({
      accessSeconds: whole(60, 3600).default(600),
      idleMinutes: whole(5, 43_200).default(10_080),
      absoluteHours: whole(1, 2_160).default(720),
    })
    .prefault({}),
  limits: z
    .strictObject({
      /** Requests a minute from one address, and from one person or token. */
      perAddress: whole(10, 10_000_000).default(1_200),
      perCaller: whole(10, 10_000_000).default(600),
    })
    .prefault({}),
  /** Addresses of proxies whose X-Forwarded-For is believed. */
  trustedProxies: z.array(z.string().min(1).max(64)).max(32).default([]),
  oidc: z
    .strictObject({
      issuer: z
        .url({ protocol: /^https?$/ })
        .refine((url) => isSafeIssuer(url), 'must be https, unless on this machine'),
      clientId: z.string().min(1).max(512),
      clientSecretFile: path.optional(),
      redirectUri: z.url(),
    })
    .optional(),
});

function isSafeIssuer(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
}

type Parsed = z.infer<typeof configSchema>;
/** Paths are absolute: relative ones are meant from the file's own folder. */
export type Config = Readonly<Parsed> & {
  readonly keyFile: string;
  readonly database: { readonly embeddedDir: string };
};

/** The file cannot be used; the message says every line that is wrong. */
export class ConfigError extends Error {
  readonly code = 'CONFIG_INVALID';
}

/** @param file absent: all defaults, with paths meant from `folder`. @throws ConfigError. */
export function loadConfig(file: string | undefined, folder = process.cwd()): Config {
  if (file === undefined) return finish(configSchema.parse({}), folder);
  const absolute = resolve(folder, file);
  return parseConfig(readText(absolute), absolute);
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new ConfigError(`The configuration file ${printable(file)} cannot be read (${code}).`, { cause: error });
  }
}

/** As `loadConfig`, for text that came from `file`. */
export function parseConfig(text: string, file: string): Config {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, uniqueKeys: true, logLevel: 'error' });
  const lineAt = (offset: number): number => counter.linePos(offset).line || 1;
  const syntax = document.errors.map(({ pos, message }) => `${lineAt(pos[0])}  ${message.split('\n')[0]}`);
  if (syntax.length > 0) throw invalid(file, syntax);
  const parsed = configSchema.safeParse(parsedValue(document, file) ?? {});
  if (parsed.success) return finish(parsed.data, dirname(file));
  const issues = parsed.error.issues.map(
    (issue) => `${lineAt(offsetOf(document, issue.path))}  ${issue.path.join('.') || '(file)'}: ${issue.message}`,
  );
  throw invalid(file, issues);
}

/** @throws ConfigError for aliases without an anchor, and such as multiply. */
function parsedValue(document: Document, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new ConfigError(`The configuration ${printable(file)} is no usable YAML.`, { cause: error });
  }
}

const invalid = (file: string, issues: readonly string[]): ConfigError =>
  new ConfigError(
    `The configuration cannot be used.\n${issues.map((issue) => printable(`  ${file}:${issue}`)).join('\n')}`,
  );

/** Where the named node, or the nearest one that exists above it, begins in the text. */
function offsetOf(document: Document, at: readonly PropertyKey[]): number {
  for (let length = at.length; length >= 0; length -= 1) {
    const node = document.getIn(at.slice(0, length), true) as { readonly range?: readonly number[] } | undefined;
    if (node?.range) return node.range[0] ?? 0;
  }
  return 0;
}

function finish(parsed: Parsed, folder: string): Config {
  const from = (name: string): string => (isAbsolute(name) ? name : join(folder, name));
  const dataDir = from(parsed.dataDir);
  const { urlFile, embeddedDir, ...database } = parsed.database;
  return Object.freeze({
    ...parsed,
    dataDir,
    keyFile: from(parsed.keyFile ?? join(dataDir, 'cloud.key')),
    database: {
      ...database,
      embeddedDir: from(embeddedDir ?? join(dataDir, 'database')),
      ...(urlFile === undefined ? {} : { urlFile: from(urlFile) }),
    },
    ...(parsed.oidc?.clientSecretFile === undefined
      ? {}
      : { oidc: { ...parsed.oidc, clientSecretFile: from(parsed.oidc.clientSecretFile) } }),
  });
}
