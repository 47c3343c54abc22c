/** `enroll`: joins a facility in the cloud with a code, once an operator has compared the fingerprint. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Call, type Command, numberFlag, textFlag, UsageError } from '#shared/command-line/command.ts';
import { enrolReply, enrolRequest } from '#shared/contract/sync/enrolment.ts';
import { printable } from '#shared/printable.ts';
import { rawPublicKey, toBase64url } from '#shared/signed-statement.ts';
import { isCloudUrl } from '../config-rule.ts';
import type { ControlClient } from '../control/edge-side.ts';
import { type Arguments, ControlRefusal } from '../control/messages.ts';
import type { EnrolBeginReply, EnrolmentReply } from '../control/sync-replies.ts';
import { keepCloudAddress, readCloudAddress, takeEdgeKey } from '../sync/edge-folder.ts';
import { type CloudAddress, Uplink } from '../sync/uplink.ts';
import { enrolWords } from './enroll-words.ts';
import { configOf, withGateway } from './gateway-call.ts';

const askEveryMs = 2_000;
const answerMs = 30_000;
/** A proof is checked, and a key made, before the first call. */
const beginMs = 30_000;

export const command: Command = {
  usage: `kannuki-gateway enroll --code KNK1-… [--cloud https://…] [--ca FILE] [--wait SECONDS] [--json]

  --cloud  where the cloud is, where the configuration does not say (cloud.url)
  --wait   how long to wait for an operator to confirm the fingerprint (default 900)`,
  options: { code: { type: 'string' }, cloud: { type: 'string' }, ca: { type: 'string' }, wait: { type: 'string' } },
  wordsMax: 0,
  run: async (call) => {
    const code = textFlag(call, 'code');
    if (code === undefined) throw new UsageError('--code is missing', '--code を指定してください');
    const waitMs = (numberFlag(call, 'wait', { min: 0, max: 86_400 }) ?? 900) * 1_000;
    const config = configOf(call);
    const address = addressOf(call, config.cloud ?? readCloudAddress(config.edgeDir));
    const uplink = new Uplink(address);
    try {
      const enrolment = await withGateway(call, async (door) => {
        const edgeKey = toBase64url(rawPublicKey(takeEdgeKey(config.edgeDir)));
        const begun = (await door.call('enrol-begin', { code, edgeKey }, { deadlineMs: beginMs })) as EnrolBeginReply;
        say(call, enrolWords[call.terminal.language].compare(begun.fingerprint));
        return await settle({ call, door, uplink, waitMs }, begun);
      });
      keepCloudAddress(config.edgeDir, address);
      if (call.flags['json']) call.terminal.out(JSON.stringify(enrolment));
      else call.terminal.out(enrolWords[call.terminal.language].enrolled(printable(enrolment.facilityName ?? '')));
      return 0;
    } finally {
      await uplink.close();
    }
  },
};

function addressOf(call: Call, known: CloudAddress | undefined): CloudAddress {
  const url = textFlag(call, 'cloud') ?? known?.url;
  if (url === undefined)
    throw new UsageError(
      '--cloud is missing, and the configuration has no cloud.url',
      '--cloud を指定してください(設定に cloud.url がありません)',
    );
  if (!isCloudUrl(url))
    throw new UsageError(
      `${printable(url)} is neither https nor this machine itself`,
      `${printable(url)} は https でも、この機械自身でもありません`,
    );
  const caFile = textFlag(call, 'ca') ?? known?.caFile;
  return caFile === undefined ? { url } : { url, caFile };
}

/** What a person reads; a program reads only the end. */
function say(call: Call, lines: readonly string[]): void {
  for (const line of lines) call.terminal.err(line);
}

interface Trying {
  readonly call: Call;
  readonly door: ControlClient;
  readonly uplink: Uplink;
  readonly waitMs: number;
}

/** Asks until an operator has confirmed. @throws ControlRefusal with the cloud's code, or how the way to it failed. */
async function settle({ call, door, uplink, waitMs }: Trying, begun: EnrolBeginReply): Promise<EnrolmentReply> {
  const { fingerprint: _shown, ...asked } = begun;
  const body = Buffer.from(JSON.stringify(enrolRequest.parse(asked)));
  const until = performance.now() + waitMs;
  for (;;) {
    const given = await askOnce(uplink, body);
    if (given !== undefined) return (await door.call('enrol-finish', given, { deadlineMs: beginMs })) as EnrolmentReply;
    if (performance.now() >= until) throw new ControlRefusal('ENROLMENT_WAITING', 'nobody has confirmed it yet');
    await pause(askEveryMs, undefined, { signal: call.terminal.signal }).catch(() => {});
    if (call.terminal.signal.aborted) throw new ControlRefusal('ENROLMENT_WAITING', 'given up; the same code goes on');
  }
}

/** @returns what the door process needs to finish, or `undefined` while it is not confirmed. */
async function askOnce(uplink: Uplink, body: Uint8Array): Promise<Arguments<'enrol-finish'> | undefined> {
  const answer = await uplink.call({ method: 'POST', path: '/gateway/v1/enroll', body, deadlineMs: answerMs });
  if (answer.kind === 'failed') {
    if (answer.why === 'busy') return undefined;
    throw new ControlRefusal(answer.code ?? answer.why, answer.detail);
  }
  const reply = enrolReply.safeParse(answer.value);
  if (!reply.success) throw new ControlRefusal('malformed', 'the cloud’s answer is none');
  if (reply.data.status === 'pending') return undefined;
  const { enrolment, root, certificate } = reply.data;
  return { enrolment, root, certificate };
}
