/**
 * Signs passes and verifies them: the cloud the one, a door process the other, without contact between them.
 *
 * Guarantee: a pass that verifies was signed by the key given, for this facility, and is well-formed.
 * Not promised: that it is in its time, not used up and not revoked; that is for the decision at the door.
 */
import type { KeyObject } from 'node:crypto';
import { type Pass, passStatement, passTextMax } from './contract/pass.ts';
import { statementType } from './contract/sync/statement.ts';
import { signStatement, type Verified, verifyStatement } from './signed-statement.ts';

/** @returns the text that the QR code holds, or `undefined` if it would be too long for one that phones show well. */
export async function signPass(pass: Pass, key: KeyObject): Promise<string | undefined> {
  const text = await signStatement(statementType.pass, pass, key);
  return text.length <= passTextMax ? text : undefined;
}

/** @param expected the feed's key as it is certified, and the facility of the door. */
export async function verifyPass(
  text: string,
  expected: { readonly key: KeyObject; readonly facility: string },
): Promise<Verified<Pass>> {
  if (text.length > passTextMax) return { kind: 'rejected', reason: 'malformed' };
  const verified = await verifyStatement(statementType.pass, passStatement, text, expected.key);
  if (verified.kind === 'rejected') return verified;
  const { facility, from, until } = verified.value;
  const isSound = facility === expected.facility && from < until;
  return isSound ? verified : { kind: 'rejected', reason: 'wrong-shape' };
}
