/**
 * `npm run swipe`: somebody presents a card or types a PIN at a reader of the running demonstration.
 *
 * Prints what the gateway decided and why.
 */
import { entryWords } from '#gateway/control/entry-words.ts';
import { codeRemedy, type Language } from '#shared/code.ts';
import { demoHome } from './demo-home.ts';
import { demoArguments, runDemoCommand, UsageProblem } from './demo-options.ts';
import { swipe } from './demo-swipe.ts';

const usage = `npm run swipe -- <door> <person | person:pin | card bits | PIN> [more, one after the other]

  npm run swipe -- office aiko                     aiko's card
  npm run swipe -- locker-room tomas tomas:pin     a card, then a PIN
  npm run swipe -- office aiko:pin                 a PIN alone; aiko:duress is the one under duress
  npm run swipe -- office 123456                   any PIN
  npm run swipe -- office 00000000000000000000000001   the bits of a card

  --out        at the reader on the inside, where there is one
  --json       the journal's entries, for programs
  --dir DIR    the demonstration's folder (default: .demo)`;

const silence = (reader: string, language: Language) =>
  language === 'ja'
    ? `ゲートウェイは何も受け取っていません。${reader} は接続されていますか。`
    : `The gateway heard nothing. Is ${reader} on line?`;

await runDemoCommand(async () => {
  const { words, flags, isJson, language, dir } = demoArguments(usage, { out: { type: 'boolean' } });
  const [door, ...things] = words;
  if (door === undefined || things.length === 0) throw new UsageProblem(usage);
  const asked = { door, things, isOut: flags['out'] === true };
  const isDecided = await swipe(demoHome(dir), asked, {
    entry: (view) => console.log(isJson ? JSON.stringify(view) : entryWords(view, language)),
    refused: (code) => {
      if (!isJson) console.log(`  ${codeRemedy(code, language)}`);
    },
    silence: (reader) => console.error(silence(reader, language)),
  });
  return isDecided ? 0 : 1;
});
