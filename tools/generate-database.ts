/**
 * Writes what follows from the migrations: `cloud/database/generated-types.ts`.
 *
 * `node tools/generate-database.ts` writes; with `--check` it fails where the committed file differs.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startServer } from '#cloud/database/embedded-server.ts';
import { migrate } from '#cloud/database/migrate.ts';
import { machines } from '#cloud/machines.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');
const isCheck = process.argv.includes('--check');
const folder = mkdtempSync('/dev/shm/kannuki-generate-');
const server = await startServer({ folder, isDisposable: true });
try {
  await migrate({ adminUrl: server.adminUrl, machines });
  const types = await generateTypes(server.adminUrl);
  settle('cloud/database/generated-types.ts', types);
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function generateTypes(url: string): Promise<string> {
  const out = join(folder, 'types.ts');
  writeFileSync(out, '');
  await run(
    process.execPath,
    [
      join(root, 'node_modules/kysely-codegen/dist/cli/bin.js'),
      ...['--dialect', 'postgres', '--default-schema', 'public', '--include-pattern', 'public.*', '--out-file', out],
      // bigints come as numbers: see pool.ts.
      ...['--type-mapping', '{"int8":"number"}', '--log-level', 'error'],
    ],
    { env: { DATABASE_URL: url } },
  );
  await run(join(root, 'node_modules/.bin/biome'), [
    'check',
    '--write',
    '--vcs-enabled=false',
    '--config-path',
    root,
    out,
  ]).catch(() => undefined);
  return `// biome-ignore-all lint/style/noExcessiveLinesPerFile: generated from the live schema\n${readFileSync(out, 'utf8')}`;
}

function settle(path: string, content: string): void {
  const file = join(root, path);
  if (!isCheck) {
    writeFileSync(file, content);
    return;
  }
  if (readFileSync(file, 'utf8') === content) return;
  console.error(`${path} differs from what the migrations say: run node tools/generate-database.ts`);
  process.exitCode = 1;
}
