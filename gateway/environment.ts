/** What the environment says: the only reader of it, apart from the configuration since that takes long to load. */

const { env } = process;

/** Where systemd put this unit's credentials, if it did. */
export function credentialsDirectory(): string | undefined {
  return env['CREDENTIALS_DIRECTORY'];
}

/** The file used when the command line names none. */
export function defaultConfigFile(): string {
  return env['KANNUKI_CONFIG'] ?? '/etc/kannuki/gateway.yaml';
}

/** Japanese where the user's locale is Japanese; English otherwise. */
export function environmentLanguage(): 'en' | 'ja' {
  const locale = env['LC_ALL'] || env['LC_MESSAGES'] || env['LANG'] || '';
  return locale.startsWith('ja') ? 'ja' : 'en';
}

/** Whether whoever started this process says how memory is shared among threads. */
export function isAllocatorSet(): boolean {
  return env['MALLOC_ARENA_MAX'] !== undefined;
}

/** Of a process of ours: as this one's, with what that leaves open. */
export function environmentWith(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return { ...more, ...env };
}
