/** `create-owner`: the first organization, facility and person; works beside a running cloud or without it. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { type Call, type Command, neededFlag, show, textFlag, UsageError } from '#shared/command-line/command.ts';
import { nameSchema } from '#shared/contract/identifier.ts';
import { isZone } from '#shared/facility-date.ts';
import { readEnvironment } from '../environment.ts';
import { createOwner } from '../identity/create-owner.ts';
import { isAcceptablePassword } from '../identity/password-rule.ts';
import { createSealer } from '../identity/sealed-value.ts';
import { openDatabase } from '../open-database.ts';
import { openKey } from '../open-key.ts';
import { configOf } from './command-config.ts';
import { words } from './words.ts';

export const command: Command = {
  usage: [
    'kannuki-cloud create-owner --email ADDRESS --organization NAME --facility NAME [--zone Asia/Tokyo]',
    '                           [--name NAME] [--password-file FILE] [--json]',
    '',
    'Without --password-file a password is made and shown this once. FILE may be - for standard input.',
  ].join('\n'),
  options: {
    email: { type: 'string' },
    organization: { type: 'string' },
    facility: { type: 'string' },
    zone: { type: 'string' },
    name: { type: 'string' },
    'password-file': { type: 'string' },
  },
  wordsMax: 0,
  run: async (call) => {
    const input = inputOf(call);
    const config = configOf(call);
    const { databaseUrl } = readEnvironment();
    const cloudKey = openKey({ config, databaseUrl });
    const opened = await openDatabase({ config, cloudKey, databaseUrl });
    try {
      const owned = await createOwner(opened.pools.app, createSealer(cloudKey), input);
      const { isKnown, ...ids } = owned;
      const isTold = !isKnown && textFlag(call, 'password-file') === undefined;
      const say = words[call.terminal.language];
      show(call, { ...ids, ...(isTold ? { password: input.password } : {}) }, [
        `${say.ownerMade}: ${input.email} (${ids.user})`,
        `${say.organization}: ${input.organization} (${ids.organization})`,
        `${say.facility}: ${input.facility.name} (${ids.facility})`,
        ...(isTold ? [`${say.password}: ${input.password}`] : []),
        ...(isKnown ? [say.knownPassword] : []),
      ]);
      return 0;
    } finally {
      await opened.close();
    }
  },
};

function inputOf(call: Call) {
  const email = parsed(z.email().max(254), 'email', neededFlag(call, 'email').toLowerCase());
  const zone = textFlag(call, 'zone') ?? 'Asia/Tokyo';
  if (!isZone(zone))
    throw new UsageError(
      `--zone must be a name such as Asia/Tokyo, not "${zone}"`,
      `--zone は Asia/Tokyo のような名前で指定してください(「${zone}」は使えません)`,
    );
  return {
    email,
    name: parsed(nameSchema, 'name', textFlag(call, 'name') ?? email.slice(0, 120)),
    organization: parsed(nameSchema, 'organization', neededFlag(call, 'organization')),
    facility: {
      name: parsed(nameSchema, 'facility', neededFlag(call, 'facility')),
      zone,
      language: call.terminal.language,
    },
    password: passwordOf(call, email),
  };
}

function parsed<Value>(schema: z.ZodType<Value>, name: string, text: string): Value {
  const result = schema.safeParse(text);
  if (!result.success)
    throw new UsageError(`--${name}: ${result.error.issues[0]?.message}`, `--${name} の値が正しくありません`);
  return result.data;
}

function passwordOf(call: Call, email: string): string {
  const file = textFlag(call, 'password-file');
  if (file === undefined) return randomBytes(15).toString('base64url');
  const password = readFileSync(file === '-' ? 0 : file, 'utf8').replace(/\r?\n$/, '');
  if (!isAcceptablePassword(password, email)) {
    throw new UsageError(
      'the password is too short or too well known: choose twelve characters or more',
      'パスワードが短すぎるか、よく使われるものです。12文字以上にしてください',
    );
  }
  return password;
}
