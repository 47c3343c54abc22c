/**
 * What holds history and state together: a code per state row, and one over all of it.
 *
 * Guarantees: without the key, no state row can be changed, dropped or put back, no entry cut off the end, and the
 * pruning boundary cannot be moved. Pure but for the HMAC.
 */

import { hexOf } from '#shared/journal-chain.ts';
import { emptySum, isSameCode, rowCode, toggleCode } from '../store/row-code.ts';
import type { ExtentRow, SealRow, StateRow } from './journal-tables.ts';

export const headKeyName = 'head-key';
export const stateKeyPurpose = 'journal state';

export function codeOfState(key: Uint8Array, kind: string, stateKey: string, value: string): Uint8Array {
  return rowCode(key, 'gateway_state', [kind, stateKey, value]);
}

export function codeOfSeal(key: Uint8Array, seal: Omit<SealRow, 'code'>, extent: ExtentRow): Uint8Array {
  return rowCode(key, 'journal_seal', [
    seal.tip,
    hexOf(seal.tipHash),
    hexOf(seal.stateSum),
    extent.firstEpoch,
    hexOf(extent.firstKey),
    extent.boundary,
    hexOf(extent.boundaryHash),
    extent.acked,
  ]);
}

/** Whether every row carries its code and together they are the sealed sum. */
export function isStateWhole(key: Uint8Array, rows: Iterable<StateRow>, stateSum: Uint8Array): boolean {
  let sum = emptySum;
  for (const row of rows) {
    if (!isSameCode(row.code, codeOfState(key, row.kind, row.key, row.value))) return false;
    sum = toggleCode(sum, row.code);
  }
  return isSameCode(sum, stateSum);
}
