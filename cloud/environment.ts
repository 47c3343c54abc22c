/** What the environment says: the only reader of it. Secrets are not read from it; the names of their files are. */
const { env } = process;

export interface CloudEnvironment {
  /** KANNUKI_CLOUD_CONFIG: the configuration file used when the command line names none. */
  readonly configFile: string | undefined;
  /** DATABASE_URL: taken where the configuration names no database. */
  readonly databaseUrl: string | undefined;
  readonly language: 'en' | 'ja';
}

export function readEnvironment(): CloudEnvironment {
  const locale = env['LC_ALL'] || env['LC_MESSAGES'] || env['LANG'] || '';
  return {
    configFile: env['KANNUKI_CLOUD_CONFIG'] || undefined,
    databaseUrl: env['DATABASE_URL'] || undefined,
    language: locale.startsWith('ja') ? 'ja' : 'en',
  };
}
