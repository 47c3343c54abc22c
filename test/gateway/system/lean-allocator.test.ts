import { type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';

const module = new URL('../../../gateway/system/lean-allocator.ts', import.meta.url).href;
const code = `import { useLeanAllocator } from '${module}';
useLeanAllocator();
console.log(JSON.stringify({ pid: process.pid, arenas: process.env.MALLOC_ARENA_MAX, words: process.argv.slice(1) }));
process.channel?.unref();`;

async function startedWith(env: NodeJS.ProcessEnv, stdio: StdioOptions = ['ignore', 'pipe', 'inherit']) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, 'door', '--config'], {
    stdio,
    env: { PATH: process.env['PATH'], ...env },
  });
  if (child.stdout === null) throw new Error('its output is piped');
  const [said] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  return { said: JSON.parse(said) as object, pid: child.pid };
}

it('starts again in its own place, with the same words, where nobody said how memory is shared', async () => {
  const { said, pid } = await startedWith({});
  expect(said).toEqual({ pid, arenas: '1', words: ['door', '--config'] });
});

it('leaves what somebody said', async () => {
  const { said, pid } = await startedWith({ MALLOC_ARENA_MAX: '4' });
  expect(said).toEqual({ pid, arenas: '4', words: ['door', '--config'] });
});

it('keeps the channel to a parent', async () => {
  const { said, pid } = await startedWith({}, ['ignore', 'pipe', 'inherit', 'ipc']);
  expect(said).toEqual({ pid, words: ['door', '--config'] });
});
