/**
 * The demonstration (`npm start`): Kannuki House, its readers, locks and doors as processes of their own, the gateway that
 * decides for them, and the cloud from which it knows people. A live log in plain words, and the doors' states below it.
 *
 * Everything it starts ends with it, also when it is killed. Its data stays in its folder for the next start.
 */
import { readdirSync, rmSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { dirname, join } from 'node:path';
import { farDatabase, startCloud } from './demo-cloud.ts';
import { claimHome, compiledFolder, type DemoHome, demoHome } from './demo-home.ts';
import { demoArguments, runDemoCommand } from './demo-options.ts';
import { findPrograms } from './demo-programs.ts';
import { demoWords } from './demo-words.ts';

const usage = `npm start -- [options]

  --dir DIR         where the demonstration keeps its state (default: .demo)
  --fresh           forget everything and start anew
  --language en|ja  (default: from LANG)
  --json            one JSON object a line, for programs`;

/** The lock is this process's own and stays. */
function forget(home: DemoHome): void {
  for (const name of readdirSync(home.dir)) {
    if (name !== 'lock' && name !== 'compiled') rmSync(join(home.dir, name), { recursive: true, force: true });
  }
  rmSync(dirname(farDatabase(home)), { recursive: true, force: true });
}

await runDemoCommand(async () => {
  const options = demoArguments(usage, { fresh: { type: 'boolean' } });
  const words = demoWords(options.language);
  const home = demoHome(options.dir);
  const claim = claimHome(home);
  if ('heldBy' in claim) {
    console.error(words.running(claim.heldBy, home.dir));
    return 1;
  }
  const ended = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => ended.abort());
  try {
    if (options.flags['fresh'] === true) forget(home);
    enableCompileCache(compiledFolder(home));
    const programs = findPrograms();
    // It takes longest, and what shows it is loaded meanwhile.
    const cloud = startCloud(home, programs.cloud);
    cloud.catch(() => undefined);
    const { runDemo } = await import('./demo-show.ts');
    return await runDemo({ options, words, home, programs, cloud, ended });
  } finally {
    claim.release();
  }
});
