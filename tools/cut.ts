/**
 * `npm run cut`: makes something go wrong at the running demonstration, and puts it right again.
 *
 * What it did is said; what the gateway makes of it is in the demonstration's live log.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { siteSocketFile } from '#gateway/simulator/open-site.ts';
import type { SiteInput, SiteVerb } from '#gateway/simulator/site-call.ts';
import { connectSite, type SiteClient } from '#gateway/simulator/site-client.ts';
import type { SiteStatus } from '#gateway/simulator/site-report.ts';
import { demoFaults, type FaultOn, faultUsage } from './demo-faults.ts';
import { type DemoHome, demoHome } from './demo-home.ts';
import { demoArguments, runDemoCommand, UsageProblem } from './demo-options.ts';

const usage = `npm run cut -- <what> [<fault>] [<value>]

${faultUsage()}
  A reader or board alone: unplug. Values are in brackets with their default.

  --dir DIR    the demonstration's folder (default: .demo)`;

interface Wanted {
  readonly name: string | undefined;
  readonly value: string | undefined;
}

async function cut(client: SiteClient, target: string, wanted: Wanted): Promise<string> {
  const status = (await client.call('status', {})) as SiteStatus;
  const on = kindOf(status, target);
  const name = wanted.name ?? (on === 'peripheral' ? 'unplug' : undefined);
  const possible = demoFaults.filter((fault) => fault.on === on);
  const chosen = possible.find((fault) => fault.name === name);
  if (chosen === undefined) {
    const names = possible.map((fault) => fault.name).join(', ');
    throw new UsageProblem(
      `${name === undefined ? 'Which fault' : `No fault '${name}'`} at ${target}; there are: ${names}`,
    );
  }
  const call = chosen.call(target, wanted.value);
  if (call === undefined)
    throw new UsageProblem(`${chosen.name} takes ${chosen.value ?? 'no value'}, not '${wanted.value}'`);
  await client.call(call.verb, call.arguments as SiteInput<SiteVerb>);
  return `${target}: ${chosen.says}.`;
}

function kindOf(status: SiteStatus, target: string): FaultOn {
  if (status.peripherals.some(({ peripheral }) => peripheral === target)) return 'peripheral';
  if (status.doors.some(({ door }) => door === target)) return 'door';
  if (status.lines.some(({ line }) => line === target)) return 'line';
  throw new UsageProblem(
    [
      `No '${target}' here.`,
      `  readers and boards: ${status.peripherals.map(({ peripheral }) => peripheral).join(', ')}`,
      `  doors: ${status.doors.map(({ door }) => door).join(', ')}`,
      `  lines: ${status.lines.map(({ line }) => line).join(', ')}`,
      '  and: clock',
    ].join('\n'),
  );
}

/** @param by seconds with a sign, or `restore`. */
function stepClock(home: DemoHome, by: string | undefined): string {
  if (by === 'restore') {
    writeFileSync(home.clockFile, '0\n');
    return 'clock: as the machine’s again.';
  }
  if (by === undefined || !/^[+-]?\d{1,9}$/.test(by)) {
    throw new UsageProblem('cut clock takes seconds with a sign, such as +3600 or -86400, or restore');
  }
  const ms = readStep(home) + Number(by) * 1000;
  writeFileSync(home.clockFile, `${ms}\n`);
  return `clock: stepped by ${by} s; it stands ${ms / 1000} s off the machine’s.`;
}

function readStep(home: DemoHome): number {
  try {
    return Number(readFileSync(home.clockFile, 'utf8').trim()) || 0;
  } catch {
    return 0;
  }
}

await runDemoCommand(async () => {
  const { words, dir } = demoArguments(usage);
  const [target, name, value] = words;
  if (target === undefined) throw new UsageProblem(usage);
  const home = demoHome(dir);
  const client = await connectSite(siteSocketFile(home.siteDir));
  try {
    console.log(target === 'clock' ? stepClock(home, name) : await cut(client, target, { name, value }));
    return 0;
  } finally {
    client.close();
  }
});
