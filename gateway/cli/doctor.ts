/** `doctor`: everything an installer would ask, one line each, with a remedy. Works whether or not the gateway runs. */
import { join } from 'node:path';
import type { Command, Terminal } from '#shared/command-line/command.ts';
import type { Config } from '../config.ts';
import { type ControlClient, ControlLost, connectControl } from '../control/edge-side.ts';
import { ControlRefusal } from '../control/messages.ts';
import type { StatusReport } from '../control/replies.ts';
import { checkLines } from '../doctor/check-lines.ts';
import { checkMachine } from '../doctor/check-machine.ts';
import { checkRunning, checkWaiting } from '../doctor/check-running.ts';
import { broken, type DoctorFinding, risky } from '../doctor/finding.ts';
import { credentialsDirectory } from '../environment.ts';
import { configOf } from './gateway-call.ts';

export const command: Command = {
  usage: 'kannuki-gateway doctor [--json]        exit code 1 when something is broken',
  options: {},
  wordsMax: 0,
  run: async (call) => {
    const config = configOf(call);
    const findings = [
      ...(await checkMachine(config, credentialsDirectory())),
      ...checkLines(config),
      ...(await askGateway(config, call.terminal)),
    ];
    if (call.flags['json']) call.terminal.out(JSON.stringify(findings));
    else for (const finding of findings) call.terminal.out(findingText(finding));
    return findings.some((finding) => finding.state === 'fail') ? 1 : 0;
  },
};

async function askGateway(config: Config, terminal: Terminal): Promise<readonly DoctorFinding[]> {
  let client: ControlClient | undefined;
  try {
    client = await connectControl(join(config.runDir, 'admin.sock'));
    const report = (await client.call('status', {})) as StatusReport;
    return checkRunning(report, terminal.language);
  } catch (error) {
    if (error instanceof ControlLost) return [lostFinding(error)];
    if (error instanceof ControlRefusal) return [checkWaiting(error)];
    throw error;
  } finally {
    client?.close();
  }
}

const lostFinding = ({ code, message }: ControlLost): DoctorFinding => {
  if (code === 'GATEWAY_NOT_RUNNING') return risky('gateway', 'does not run', 'start it: kannuki-gateway door');
  if (code === 'GATEWAY_SILENT') return broken('gateway', message, 'look at its log; restart it');
  return risky('gateway', message, 'run this as root, or as a user in the group of its socket');
};

const marks = { ok: '✓', warn: '!', fail: '✗' } as const;

function findingText({ check, state, detail, remedy }: DoctorFinding): string {
  const line = `${marks[state]} ${state.padEnd(4)} ${check}: ${detail}`;
  return remedy === '' ? line : `${line}\n         → ${remedy}`;
}
