/**
 * Lets the demonstration's gateway into its facility, as an operator and an installer would together: a code, the
 * fingerprint compared, the doors given to it.
 */
import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { ControlClient } from '#gateway/control/edge-side.ts';
import type { EnrolmentReply } from '#gateway/control/sync-replies.ts';
import type { CloudApi } from './demo-api.ts';
import { type DemoHome, gatewayProgram, withCompileCache } from './demo-home.ts';
import { readDemoFacility } from './demo-set-up.ts';

const everyMs = 50;
const withinMs = 60_000;

interface GatewayItem {
  readonly id: string;
  readonly status: string;
  readonly fingerprint: string;
}

/** @returns whether it had to be let in. */
export async function enrolGateway(home: DemoHome, api: CloudApi, door: ControlClient): Promise<boolean> {
  const before = (await door.call('enrolment', {})) as EnrolmentReply;
  if (before.state !== 'enrolled') {
    // Named by the moment: a code is good once, and one that an interrupted start has used is of no more use.
    const name = `Kannuki House ${new Date().toISOString()}`;
    const { code } = await api.post<{ code: string }>('enrolment-codes', { name });
    const ended = new AbortController();
    const words = ['enroll', '--code', code, '--config', home.configFile, '--json'];
    const installer = promisify(execFile)(process.execPath, [gatewayProgram, ...words], {
      env: withCompileCache(home),
      timeout: withinMs,
    }).finally(() => ended.abort());
    await Promise.all([installer, confirm(api, door, ended.signal)]);
  }
  const { gateway } = (await door.call('enrolment', {})) as EnrolmentReply;
  for (const { id } of readDemoFacility().doors) await api.put(`doors/${id}/gateway`, { gateway });
  return before.state !== 'enrolled';
}

/** Waits for the gateway that shows the fingerprint of our own door process. */
async function confirm(api: CloudApi, door: ControlClient, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    const { fingerprint } = (await door.call('enrolment', {})) as EnrolmentReply;
    const { items } = await api.get<{ items: readonly GatewayItem[] }>('gateways');
    const ours = items.find((item) => item.status === 'enrolling' && item.fingerprint === fingerprint);
    if (ours !== undefined) {
      await api.post(`gateways/${ours.id}/confirm`, { fingerprint });
      return;
    }
    await pause(everyMs);
  }
}
