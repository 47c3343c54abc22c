import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  installFeedKeys,
  openFeedKeys,
  openOrCreateKeys,
  prepareFeedKeys,
  rotateFeedKeys,
} from '#cloud/gateway-sync/feed-keys.ts';
import { certifyFeedKey, createRootKey, openRootKey } from '#cloud/gateway-sync/root-key.ts';
import { sealFor } from '#shared/sealed-box.ts';
import { fromBase64url } from '#shared/signed-statement.ts';
import { openSync, type SyncRoom, said } from './open-sync.ts';

const now = 1_800_000_000_000;
const day = 86_400_000;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kannuki-keys-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('keys of a cloud that keeps all in one folder', () => {
  it('are made once, told of, and readable by their owner only', async () => {
    const first = await openOrCreateKeys(folder, now);
    expect(first.created.map((path) => path.slice(folder.length + 1))).toEqual(['root-key.json', 'feed-keys.json']);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    const second = await openOrCreateKeys(folder, now + day);
    expect(second.created).toEqual([]);
    expect(second.keys.certificate).toBe(first.keys.certificate);
  });

  it('are refused where others can read them', async () => {
    await openOrCreateKeys(folder, now);
    chmodSync(join(folder, 'feed-keys.json'), 0o644);
    await expect(openOrCreateKeys(folder, now)).rejects.toMatchObject({ code: 'KEY_FILE_OPEN_TO_OTHERS' });
  });

  it('are renewed before their certificate ends, where the root is at hand', async () => {
    const { keys } = await openOrCreateKeys(folder, now);
    const renewed = await openOrCreateKeys(folder, keys.terms.notAfter - 10 * day);
    expect(renewed.keys.terms.serial).toBe(2);
    renameSync(join(folder, 'root-key.json'), join(folder, 'elsewhere'));
    const late = await openOrCreateKeys(folder, renewed.keys.terms.notAfter - 10 * day);
    expect(late.keys.terms.serial).toBe(2);
  });
});

describe('a root that lies elsewhere', () => {
  it('is needed for a new certificate only: the cloud runs with feed key and certificate', async () => {
    const root = createRootKey(join(folder, 'safe', 'root.json'));
    const cloud = join(folder, 'cloud');
    const request = prepareFeedKeys(cloud);
    const terms = { serial: 7, notBefore: now, notAfter: now + day };
    const certificate = await certifyFeedKey(openRootKey(join(folder, 'safe', 'root.json')), request, terms);
    await installFeedKeys(cloud, root.publicKey, certificate);
    rmSync(join(folder, 'safe'), { recursive: true });
    expect((await openFeedKeys(cloud)).terms).toMatchObject({ serial: 7, feedKey: request.feedKey });
    expect(readFileSync(join(cloud, 'feed-keys.json'), 'utf8')).not.toContain('root-1');
  });

  it('gives no force to a certificate by another root, for other keys, or older than the one in force', async () => {
    const root = createRootKey(join(folder, 'root.json'));
    const other = createRootKey(join(folder, 'other.json'));
    const terms = { serial: 2, notBefore: now, notAfter: now + day };
    const request = prepareFeedKeys(folder);
    await expect(
      installFeedKeys(folder, root.publicKey, await certifyFeedKey(other, request, terms)),
    ).rejects.toThrow();
    await installFeedKeys(folder, root.publicKey, await certifyFeedKey(root, request, terms));
    await expect(
      installFeedKeys(folder, root.publicKey, await certifyFeedKey(root, request, { ...terms, serial: 3 })),
    ).resolves.toBeDefined();
    const next = prepareFeedKeys(folder);
    await expect(
      installFeedKeys(folder, root.publicKey, await certifyFeedKey(root, next, { ...terms, serial: 3 })),
    ).rejects.toThrow();
    await expect(
      installFeedKeys(folder, root.publicKey, await certifyFeedKey(root, request, { ...terms, serial: 9 })),
    ).rejects.toThrow();
  });

  it('lets what was sealed to the keys before still be opened', async () => {
    const root = createRootKey(join(folder, 'root.json'));
    const first = await rotateFeedKeys(folder, root, now);
    const sealed = sealFor(fromBase64url(first.terms.sealKey), 'card read', Buffer.from('bits'));
    const second = await rotateFeedKeys(folder, root, now);
    expect(Buffer.from(second.open('card read', sealed) ?? []).toString()).toBe('bits');
    expect(second.open('another purpose', sealed)).toBeUndefined();
  });

  it('is not there where its file is damaged', () => {
    writeFileSync(join(folder, 'root.json'), '{"kind":"kannuki-root-1"}', { mode: 0o600 });
    expect(() => openRootKey(join(folder, 'root.json'))).toThrow('KEY_FILE_DAMAGED');
    expect(() => openRootKey(join(folder, 'none.json'))).toThrow('KEY_FILE_MISSING');
  });
});

describe('a rotation', () => {
  let room: SyncRoom | undefined;
  afterAll(async () => {
    await room?.close();
  });

  it('reaches a gateway with its next poll, by the root’s word, and the old key counts no more', async () => {
    room = await openSync();
    await room.emit([said.facility(room.facility)]);
    const gateway = await room.gateway();
    await gateway.catchUp();
    const before = gateway.certificateSerial;
    const oldKey = gateway.feedKey;
    expect((await gateway.send('GET', gateway.feedPath(0, 'A'.repeat(22)))).body).not.toHaveProperty('certificate');
    room.useKeys(await rotateFeedKeys(room.folder, openRootKey(join(room.folder, 'root-key.json')), Date.now()));
    const waiting = await gateway.poll(20_000);
    expect(waiting.lease).toBeDefined();
    expect(gateway.certificateSerial).toBe(before + 1);
    expect(gateway.feedKey).not.toEqual(oldKey);
  });
});
