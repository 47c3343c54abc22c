/**
 * Bundles the gateway into a folder of plain JavaScript: the program, and each worker's entry beside it.
 *
 * Libraries with native code stay outside, and migrations are copied, since they are read as files.
 */
import { cpSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

const entries = [
  'gateway/main.ts',
  'gateway/journal/journal-thread.ts',
  'gateway/replica/replica-thread.ts',
  'gateway/replica/pin-thread.ts',
  'gateway/operate/verify-thread.ts',
];

/**
 * @param more further entries, for programs that use the same parts.
 * @returns the folder's main program.
 */
export async function bundleGateway(folder: string, more: readonly string[] = []): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    entryPoints: [...entries, ...more].map((path) => ({ in: path, out: basename(path, '.ts') })),
    outdir: folder,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    minify: true,
    external: ['better-sqlite3', 'serialport', 'pino'],
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  });
  cpSync(join(root, 'gateway/store/migrations'), join(folder, 'migrations'), { recursive: true });
  return join(folder, 'main.js');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await bundleGateway(join(root, 'dist')));
