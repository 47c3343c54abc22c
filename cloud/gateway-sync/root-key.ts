/**
 * The offline root: it says which feed key speaks for the cloud, and nothing else.
 *
 * Its public half is pinned in every gateway, so that a stolen feed key is replaced from here and no site is visited. It
 * is meant to lie apart from the running cloud, which needs only the certificate.
 */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import * as z from 'zod';
import { bytesSchema, statementType } from '#shared/contract/sync/statement.ts';
import { fromBase64url, privateSignKey, rawPublicKey, signStatement, toBase64url } from '#shared/signed-statement.ts';
import { readKeyFile, writeKeyFile } from './key-file.ts';

const rootFile = z.strictObject({ kind: z.literal('kannuki-root-1'), privateKey: z.string().min(32).max(256) });

export interface RootKey {
  readonly privateKey: KeyObject;
  /** Raw, 32 bytes. */
  readonly publicKey: Uint8Array;
}

/** Writes a new root. */
export function createRootKey(path: string): RootKey {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pkcs8 = privateKey.export({ type: 'pkcs8', format: 'der' });
  writeKeyFile(path, { kind: 'kannuki-root-1', privateKey: toBase64url(pkcs8) });
  return { privateKey, publicKey: rawPublicKey(privateKey) };
}

/** @throws KeyFileFault. */
export function openRootKey(path: string): RootKey {
  const privateKey = privateSignKey(fromBase64url(readKeyFile(path, rootFile).privateKey));
  return { privateKey, publicKey: rawPublicKey(privateKey) };
}

/** What the running cloud asks the root to certify: public keys only. */
export const certificateRequest = z.strictObject({ feedKey: bytesSchema(32), sealKey: bytesSchema(32) });
export type CertificateRequest = z.infer<typeof certificateRequest>;

export interface CertificateTerms {
  /** Higher than that of any certificate before it. */
  readonly serial: number;
  /** Wall time, ms. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/** @returns the certificate, for `installFeedKeys`. */
export function certifyFeedKey(root: RootKey, request: CertificateRequest, terms: CertificateTerms): Promise<string> {
  return signStatement(statementType.keyCertificate, { ...request, ...terms }, root.privateKey);
}
