/**
 * Long random words that are shown once and kept as a hash: sessions, invitations, service tokens.
 *
 * 256 random bits need no slow hash; nobody guesses them.
 */
import { createHash, randomBytes } from 'node:crypto';

export type TokenKind = 'krt' | 'kin' | 'kst';

const bodyBytes = 32;
const pattern = /^(krt|kin|kst)_[A-Za-z0-9_-]{43}$/;

/** krt: refreshes a session · kin: accepts an invitation · kst: acts for an integration. */
export function newToken(kind: TokenKind): { readonly token: string; readonly hash: Buffer } {
  const token = `${kind}_${randomBytes(bodyBytes).toString('base64url')}`;
  return { token, hash: hashOf(token) };
}

/** @returns its hash, or `undefined` where the text is no token of that kind. */
export function tokenHash(kind: TokenKind, text: string): Buffer | undefined {
  return pattern.test(text) && text.startsWith(`${kind}_`) ? hashOf(text) : undefined;
}

const hashOf = (token: string): Buffer => createHash('sha256').update(token, 'utf8').digest();
