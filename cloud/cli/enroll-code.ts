/** `enroll-code`: a code by which one gateway may come in, shown this once. */
import { join } from 'node:path';
import { codeText } from '#shared/code.ts';
import { type Command, show, textFlag, UsageError } from '#shared/command-line/command.ts';
import { nameSchema } from '#shared/contract/identifier.ts';
import { tenantTransaction } from '../database/tenant-transaction.ts';
import { createEnrolmentCode } from '../gateway-sync/create-code.ts';
import { openOrCreateKeys } from '../gateway-sync/feed-keys.ts';
import { configOf, withDatabase } from './command-config.ts';
import { consoleClaims, facilityOf } from './facility-of.ts';
import { words } from './words.ts';

export const command: Command = {
  usage: 'kannuki-cloud enroll-code NAME [--facility ID] [--replaces GATEWAY] [--json]',
  options: { facility: { type: 'string' }, replaces: { type: 'string' } },
  wordsMax: 1,
  run: (call) =>
    withDatabase(call, async (opened) => {
      const name = nameSchema.safeParse(call.words[0] ?? '');
      if (!name.success)
        throw new UsageError(
          'NAME is what people will call the gateway',
          'NAME にはゲートウェイの呼び名を指定してください',
        );
      const facilityId = await facilityOf(call, opened);
      const { keys } = await openOrCreateKeys(join(configOf(call).dataDir, 'keys'), Date.now());
      const replaces = textFlag(call, 'replaces') ?? null;
      const request = { facilityId, name: name.data, replaces, actor: 'console', root: keys.root };
      const made = await tenantTransaction(opened.pools.app, consoleClaims(facilityId), (transaction) =>
        createEnrolmentCode(transaction, request),
      );
      const { language, err } = call.terminal;
      if (made.status === 'refused') {
        err(`${codeText(made.code, language)} [${made.code}]`);
        return 1;
      }
      const expiresAt = made.expiresAt.toISOString();
      show(call, { facility: facilityId, code: made.code, expiresAt }, [
        made.code,
        words[language].codeUntil(expiresAt),
      ]);
      return 0;
    }),
};
