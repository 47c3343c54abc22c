/** `gateways`: how far each is behind and when it was heard of; `--confirm` lets one in whose fingerprint was compared. */
import { codeText } from '#shared/code.ts';
import { type Call, type Command, neededFlag, show, textFlag } from '#shared/command-line/command.ts';
import { tenantTransaction } from '../database/tenant-transaction.ts';
import { confirmGateway } from '../gateway-sync/gateway-verbs.ts';
import { type GatewayView, readGateways } from '../gateway-sync/read-gateways.ts';
import { withDatabase } from './command-config.ts';
import { consoleClaims, facilityOf } from './facility-of.ts';
import { words } from './words.ts';

const shownMax = 1_000;

export const command: Command = {
  usage: [
    'kannuki-cloud gateways [--facility ID] [--json]',
    'kannuki-cloud gateways --confirm GATEWAY --fingerprint AS-THE-MACHINE-SHOWS-IT [--facility ID]',
  ].join('\n'),
  options: { facility: { type: 'string' }, confirm: { type: 'string' }, fingerprint: { type: 'string' } },
  wordsMax: 0,
  run: (call) =>
    withDatabase(call, async (opened) => {
      const facilityId = await facilityOf(call, opened);
      const claims = consoleClaims(facilityId);
      const { app } = opened.pools;
      const gatewayId = textFlag(call, 'confirm');
      if (gatewayId !== undefined) {
        const fingerprint = neededFlag(call, 'fingerprint');
        const outcome = await tenantTransaction(app, claims, (transaction) =>
          confirmGateway(transaction, { facilityId, gatewayId }, fingerprint),
        );
        if (outcome.status === 'refused' || outcome.status === 'conflict') {
          call.terminal.err(`${codeText(outcome.code, call.terminal.language)} [${outcome.code}]`);
          return 1;
        }
      }
      const found = await tenantTransaction(app, claims, (transaction) =>
        readGateways(transaction, facilityId, { limit: shownMax }),
      );
      show(call, found, found.length === 0 ? [words[call.terminal.language].noGateway] : found.flatMap(linesOf(call)));
      return 0;
    }),
};

const linesOf =
  (call: Call) =>
  (gateway: GatewayView): readonly string[] => {
    const { id, name, status, fingerprint, feed, journal, lastSeenAt, alarms } = gateway;
    const say = words[call.terminal.language];
    const seen = lastSeenAt === null ? say.neverSeen : `${say.lastSeen} ${lastSeenAt}`;
    const history = journal === null ? '' : ` · ${say.history} ${journal.epoch}/${journal.seq}`;
    return [
      `${name} (${id}) · ${status} · ${seen}`,
      `  ${say.fingerprint} ${fingerprint}`,
      `  ${say.feed} ${feed.cursor}/${feed.head}, ${say.lag} ${feed.lag}${history}`,
      ...alarms.map((code) => `  ! ${code}`),
    ];
  };
