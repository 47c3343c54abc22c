/**
 * `npm run demo:partition`: cuts the running demonstration off from its cloud for a while.
 *
 * Doors go on deciding from what the gateway holds; the live log shows it, and how it catches up afterwards.
 */

import { demoHome } from './demo-home.ts';
import { cutLink } from './demo-link.ts';
import { demoArguments, runDemoCommand, UsageProblem } from './demo-options.ts';

const usage = `npm run demo:partition -- [<seconds> | mend]

  Cuts the line between gateway and cloud for so many seconds (default: 60), or mends it now.

  --dir DIR    the demonstration's folder (default: .demo)`;
const secondsMax = 86_400;

await runDemoCommand(async () => {
  const { words, dir, language } = demoArguments(usage);
  const [word = '60'] = words;
  const home = demoHome(dir);
  if (word === 'mend') {
    cutLink(home, 0);
    console.log(language === 'ja' ? '回線を戻しました。' : 'The link is whole again.');
    return 0;
  }
  const seconds = Number(word);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > secondsMax) throw new UsageProblem(usage);
  cutLink(home, Date.now() + seconds * 1_000);
  console.log(
    language === 'ja'
      ? `クラウドとの回線を${seconds}秒間切断しました。カードをかざしてみてください(npm run swipe -- office aiko)。`
      : `The link to the cloud is cut for ${seconds} s. Swipe a card meanwhile: npm run swipe -- office aiko`,
  );
  return 0;
});
