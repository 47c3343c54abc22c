/**
 * The keys with which the running cloud speaks to gateways: a signing key and a sealing key under the root's certificate.
 *
 * Guarantees: keys are used only with a certificate that the root signed for them; new keys take the place of the old in one
 * step; what was sealed to the keys before is still opened.
 */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod';
import {
  bytesSchema,
  jwsSchema,
  type KeyCertificate,
  keyCertificateStatement,
  statementType,
} from '#shared/contract/sync/statement.ts';
import { createSealKey, openSealed } from '#shared/sealed-box.ts';
import {
  fromBase64url,
  privateSignKey,
  publicSignKey,
  rawPublicKey,
  toBase64url,
  verifyStatement,
} from '#shared/signed-statement.ts';
import { isKeyFile, KeyFileFault, readKeyFile, writeKeyFile } from './key-file.ts';
import { type CertificateRequest, certifyFeedKey, createRootKey, openRootKey, type RootKey } from './root-key.ts';

const secret = z.string().min(32).max(256);
const pendingFile = z.strictObject({
  kind: z.literal('kannuki-feed-pending-1'),
  signKey: secret,
  sealKey: secret,
  sealPublicKey: bytesSchema(32),
});
const feedFile = z.strictObject({
  kind: z.literal('kannuki-feed-1'),
  root: bytesSchema(32),
  certificate: jwsSchema,
  signKey: secret,
  sealKey: secret,
  /** Of the certificates before, newest first. */
  formerSealKeys: z.array(secret).max(4),
});

export interface FeedKeys {
  /** Raw public key of the root, 32 bytes. */
  readonly root: Uint8Array;
  /** As it is given to gateways. */
  readonly certificate: string;
  readonly terms: KeyCertificate;
  readonly signKey: KeyObject;
  /** Opens what a door process sealed to this certificate or one before it. */
  readonly open: (purpose: string, sealed: string) => Uint8Array | undefined;
}

const pendingPath = (folder: string): string => join(folder, 'feed-keys.pending.json');
const feedPath = (folder: string): string => join(folder, 'feed-keys.json');
const rootPath = (folder: string): string => join(folder, 'root-key.json');

/** Makes new keys and lays them aside until their certificate comes. @returns what the root has to certify. */
export function prepareFeedKeys(folder: string): CertificateRequest {
  const { privateKey } = generateKeyPairSync('ed25519');
  const seal = createSealKey();
  const sealKey = toBase64url(seal.publicKey);
  writeKeyFile(pendingPath(folder), {
    kind: 'kannuki-feed-pending-1',
    signKey: toBase64url(privateKey.export({ type: 'pkcs8', format: 'der' })),
    sealKey: toBase64url(seal.privateKey),
    sealPublicKey: sealKey,
  });
  return { feedKey: toBase64url(rawPublicKey(privateKey)), sealKey };
}

/** Puts the prepared keys in force. @throws KeyFileFault where the certificate is not the root's word on them, or older. */
export async function installFeedKeys(folder: string, root: Uint8Array, certificate: string): Promise<FeedKeys> {
  const pending = readKeyFile(pendingPath(folder), pendingFile);
  const former = isKeyFile(feedPath(folder)) ? readKeyFile(feedPath(folder), feedFile) : undefined;
  const formerSealKeys = former ? [former.sealKey, ...former.formerSealKeys].slice(0, 4) : [];
  const { signKey, sealKey } = pending;
  const next = { root: toBase64url(root), certificate, signKey, sealKey, formerSealKeys };
  const keys = await checkedKeys(feedPath(folder), { kind: 'kannuki-feed-1', ...next });
  const serialBefore = former ? (await checkedKeys(feedPath(folder), former)).terms.serial : 0;
  const isOurs = keys.terms.sealKey === pending.sealPublicKey && keys.terms.serial > serialBefore;
  if (!isOurs) throw new KeyFileFault({ code: 'KEY_FILE_DAMAGED', path: pendingPath(folder) });
  writeKeyFile(feedPath(folder), { kind: 'kannuki-feed-1', ...next });
  return keys;
}

/** @throws KeyFileFault. */
export async function openFeedKeys(folder: string): Promise<FeedKeys> {
  return await checkedKeys(feedPath(folder), readKeyFile(feedPath(folder), feedFile));
}

async function checkedKeys(path: string, file: z.infer<typeof feedFile>): Promise<FeedKeys> {
  const root = fromBase64url(file.root);
  const signKey = privateSignKey(fromBase64url(file.signKey));
  const type = statementType.keyCertificate;
  const verified = await verifyStatement(type, keyCertificateStatement, file.certificate, publicSignKey(root));
  const isFor = verified.kind === 'verified' && verified.value.feedKey === toBase64url(rawPublicKey(signKey));
  if (!isFor) throw new KeyFileFault({ code: 'KEY_FILE_DAMAGED', path });
  const sealKeys = [file.sealKey, ...file.formerSealKeys].map(fromBase64url);
  const open: FeedKeys['open'] = (purpose, sealed) => {
    for (const key of sealKeys) {
      const opened = openSealed(key, purpose, sealed);
      if (opened) return opened;
    }
    return undefined;
  };
  return { root, certificate: file.certificate, terms: verified.value, signKey, open };
}

const dayMs = 86_400_000;
/** How long a certificate made here lasts, and how long before its end it is renewed. */
const certificateDays = 730;
const renewalDays = 90;
/** Clocks differ. */
const earlierMs = dayMs;

/** New keys under a certificate by a root that is at hand. @param now wall time, ms. */
export async function rotateFeedKeys(folder: string, root: RootKey, now: number): Promise<FeedKeys> {
  const before = isKeyFile(feedPath(folder)) ? (await openFeedKeys(folder)).terms.serial : 0;
  const terms = { serial: before + 1, notBefore: now - earlierMs, notAfter: now + certificateDays * dayMs };
  const certificate = await certifyFeedKey(root, prepareFeedKeys(folder), terms);
  return await installFeedKeys(folder, root.publicKey, certificate);
}

export interface OpenedKeys {
  readonly keys: FeedKeys;
  /** Files made just now, for the operator to hear of; among them the root, which belongs elsewhere. */
  readonly created: readonly string[];
}

/** For a cloud that keeps everything in one folder: makes what is missing, renews what is about to end. */
export async function openOrCreateKeys(folder: string, now: number): Promise<OpenedKeys> {
  const created: string[] = [];
  if (!isKeyFile(feedPath(folder)) && !isKeyFile(rootPath(folder))) {
    createRootKey(rootPath(folder));
    created.push(rootPath(folder));
  }
  const isFresh = isKeyFile(feedPath(folder));
  const current = isFresh ? await openFeedKeys(folder) : undefined;
  const isDue = current === undefined || current.terms.notAfter - now < renewalDays * dayMs;
  if (!isDue || (current !== undefined && !isKeyFile(rootPath(folder)))) return { keys: current, created };
  const keys = await rotateFeedKeys(folder, openRootKey(rootPath(folder)), now);
  return { keys, created: [...created, feedPath(folder)] };
}
