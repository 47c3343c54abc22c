/** `simulate`: readers, locks and doors that are not there, on lines that are. For trying a gateway, and what goes wrong. */
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Command, textFlag, UsageError } from '#shared/command-line/command.ts';
import { openSite } from '../simulator/open-site.ts';
import { parseSite } from '../simulator/parse-site.ts';

const words = {
  en: { line: 'line', asked: 'asked at' },
  ja: { line: '回線', asked: '操作用ソケット:' },
};

export const command: Command = {
  usage: 'kannuki-gateway simulate <site.yaml> [--state DIR]        runs until Ctrl-C',
  options: { state: { type: 'string' } },
  wordsMax: 1,
  run: async (call) => {
    const [file] = call.words;
    if (!file) throw new UsageError('simulate which site?', '模擬する設備のファイルを指定してください');
    if (!statSync(file, { throwIfNoEntry: false })?.isFile())
      throw new UsageError(`${file} is not a file`, `${file} というファイルはありません`);
    const parsed = parseSite(readFileSync(file, 'utf8'));
    if (parsed.kind !== 'site') {
      for (const problem of parsed.issues) call.terminal.err(`${file}: ${problem}`);
      return 1;
    }
    const say = words[call.terminal.language];
    const stateDir = resolve(textFlag(call, 'state') ?? 'simulated-site');
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    const running = await openSite({ site: parsed.site, stateDir, baseDir: dirname(resolve(file)) });
    for (const [line, port] of running.ports) call.terminal.out(`${say.line} ${line} · tcp 127.0.0.1:${port}`);
    call.terminal.out(`${say.asked} ${running.socketPath}`);
    await new Promise<void>((done) => call.terminal.signal.addEventListener('abort', () => done(), { once: true }));
    await running.close();
    return 0;
  },
};
