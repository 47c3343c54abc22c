/** `verify-audit`: goes over the audit chain of every facility, or of one. Exit code 1 where one is broken. */

import { type Command, show } from '#shared/command-line/command.ts';
import { setLocal } from '../database/tenant-transaction.ts';
import { verifyAudit } from '../database/verify-audit.ts';
import { withDatabase } from './command-config.ts';
import { words } from './words.ts';

export const command: Command = {
  usage: 'kannuki-cloud verify-audit [FACILITY] [--json]',
  options: {},
  wordsMax: 1,
  run: (call) =>
    withDatabase(call, async ({ pools }) => {
      const say = words[call.terminal.language];
      const all = await pools.worker.selectFrom('facility').select('id').orderBy('id').execute();
      const wanted = call.words[0];
      const facilities = all.map(({ id }) => id).filter((id) => wanted === undefined || id === wanted);
      if (facilities.length === 0) {
        call.terminal.err(say.noFacility);
        return 1;
      }
      let isBroken = false;
      for (const facility of facilities) {
        const settings = { 'app.actor': 'console', 'app.facility_ids': `{${facility}}` };
        const report = await pools.worker
          .transaction()
          .setIsolationLevel('repeatable read')
          .execute(async (transaction) => {
            await setLocal(transaction, settings);
            return verifyAudit(transaction, facility);
          });
        isBroken ||= report.faults.length > 0;
        const lines = report.faults.map(({ seq, fault }) => say.chainBroken(facility, seq, fault));
        const whole = say.chainWhole(facility, report.head.seq, report.head.hash.slice(0, 16));
        show(call, { facility, ...report }, lines.length > 0 ? lines : [whole]);
      }
      return isBroken ? 1 : 0;
    }),
};
