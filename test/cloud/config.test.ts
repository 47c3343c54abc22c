import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { ConfigError, loadConfig, parseConfig } from '#cloud/config.ts';

const folder = mkdtempSync(join(tmpdir(), 'kannuki-config-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'cloud.yaml');

const complaint = (text: string) => {
  try {
    parseConfig(text, file);
    return 'taken';
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
};

it('needs nothing: an embedded database, on this machine only', () => {
  const config = loadConfig(undefined, folder);
  expect(config).toMatchObject({
    dataDir: '/var/lib/kannuki-cloud',
    keyFile: '/var/lib/kannuki-cloud/cloud.key',
    listen: { host: '127.0.0.1', port: 8080 },
    operations: { host: '127.0.0.1', port: 9465 },
  });
  expect(config.database).not.toHaveProperty('urlFile');
  expect(Object.isFrozen(config)).toBe(true);
});

it('means relative paths from the folder of the file', () => {
  writeFileSync(file, 'dataDir: data\nkeyFile: secret/key\ndatabase: { urlFile: url }\n');
  expect(loadConfig(file)).toMatchObject({
    dataDir: join(folder, 'data'),
    keyFile: join(folder, 'secret/key'),
    database: { urlFile: join(folder, 'url') },
  });
});

it('tells every mistake at once, with its line', () => {
  const text = 'dataDir: data\nlisten:\n  port: 99999\ncolour: red\nsessions:\n  accessSeconds: 1\n';
  const told = complaint(text);
  expect(told).toContain(`${file}:3  listen.port: `);
  expect(told).toContain('colour');
  expect(told).toContain(`${file}:6  sessions.accessSeconds: `);
});

it('takes no provider that speaks in clear, unless on this machine', () => {
  const of = (issuer: string) =>
    complaint(`oidc: { issuer: '${issuer}', clientId: x, redirectUri: 'https://a.test/b' }`);
  expect(of('http://login.example.test')).toContain('must be https');
  expect(of('https://login.example.test')).toBe('taken');
  expect(of('http://127.0.0.1:9000')).toBe('taken');
});

it('says what is wrong with a file that cannot be read or is no YAML', () => {
  expect(() => loadConfig(join(folder, 'none.yaml'))).toThrow('cannot be read (ENOENT)');
  expect(complaint('listen: [')).toContain(`${file}:1  `);
  expect(complaint('a: *b')).not.toBe('taken');
});
