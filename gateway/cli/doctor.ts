/** `doctor`: everything an installer would ask, one line each, with a remedy. Works whether or not the gateway runs. */
import { join } from 'node:path';
import { type Command, show } from '#shared/command-line/command.ts';
import type { Config } from '../config.ts';
import { type ControlClient, ControlLost, connectControl } from '../control/edge-side.ts';
import { ControlRefusal } from '../control/messages.ts';
import type { StatusReport } from '../control/replies.ts';
import { checkLines } from '../doctor/check-lines.ts';
import { checkMachine } from '../doctor/check-machine.ts';
import { checkRunning, checkWaiting } from '../doctor/check-running.ts';
import { type DoctorFinding, finding, findingJson, findingText } from '../doctor/finding.ts';
import { credentialsDirectory } from '../environment.ts';
import { configOf } from './gateway-call.ts';

export const command: Command = {
  usage: 'kannuki-gateway doctor [--json]        exit code 1 when something is broken',
  options: {},
  wordsMax: 0,
  run: async (call) => {
    const config = configOf(call);
    const { language } = call.terminal;
    const findings = [
      ...(await checkMachine(config, credentialsDirectory())),
      ...checkLines(config),
      ...(await askGateway(config)),
    ];
    const items = findings.map((each) => findingJson(each, language));
    show(
      call,
      items,
      findings.map((each) => findingText(each, language)),
    );
    return findings.some(({ state }) => state === 'fail') ? 1 : 0;
  },
};

async function askGateway(config: Config): Promise<readonly DoctorFinding[]> {
  let client: ControlClient | undefined;
  try {
    client = await connectControl(join(config.runDir, 'admin.sock'));
    return checkRunning((await client.call('status', {})) as StatusReport);
  } catch (error) {
    if (error instanceof ControlLost) return [finding(['gateway'], lostCodes[error.code], {})];
    if (error instanceof ControlRefusal) return [checkWaiting(error)];
    throw error;
  } finally {
    client?.close();
  }
}

const lostCodes = {
  GATEWAY_NOT_RUNNING: 'gateway-absent',
  GATEWAY_SILENT: 'gateway-silent',
  GATEWAY_FORBIDDEN: 'gateway-forbidden',
} as const;
