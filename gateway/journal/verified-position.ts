/**
 * Finds out where a journal file stands, and believes nothing it cannot verify.
 */

import { genesisHash, judgeNext, seqOf } from '#shared/journal-chain.ts';
import { isHeadSignedBy, type SignedHead } from '#shared/signed-head.ts';
import { judgeKeyPrint, unsealBytes } from '../site/sealed-keys.ts';
import { isSameCode } from '../store/row-code.ts';
import { StoreFault } from '../store/store-fault.ts';
import type { JournalTables, SealRow } from './journal-tables.ts';
import type { JournalKeys, Position } from './journal-transaction.ts';
import { codeOfSeal, headKeyName, isStateWhole } from './state-seal.ts';

/** @throws StoreFault STORE_DAMAGED naming what does not fit, STORE_WRONG_KEY. */
export function verifiedPosition(path: string, tables: JournalTables, keys: JournalKeys): Position {
  const damaged = (what: string): StoreFault => new StoreFault('STORE_DAMAGED', path, what);
  const [extent, seal] = [tables.extent.get(), tables.seal.get()];
  if (!extent || !seal) throw damaged('a row that every journal has is missing');
  if (judgeKeyPrint(keys.master, extent.keyPrint) === 'wrong-key') {
    throw new StoreFault('STORE_WRONG_KEY', path, 'it was written under another master key');
  }
  if (!isSameCode(seal.code, codeOfSeal(keys.state, seal, extent))) throw damaged('the seal does not fit');
  const head = tables.headAtOrBefore.get(Number.MAX_SAFE_INTEGER);
  if (!isHeadKeyRight(tables, keys, head, extent.firstKey)) throw damaged('the last head or the next key does not fit');
  const tipAt = verifyTail(tables, seal, head);
  if (tipAt === undefined) throw damaged('the end of the chain does not verify');
  if (!isStateWhole(keys.state, tables.allState.iterate(), seal.stateSum)) throw damaged('the state does not add up');
  const { tip, tipHash, stateSum } = seal;
  return { tip, tipHash, tipAt, stateSum, extent, headPlace: head?.place ?? 0 };
}

/** Walks from the last head, or the beginning, to the sealed tip. @returns the time of the tip, if all is right. */
function verifyTail(tables: JournalTables, seal: SealRow, head: SignedHead | undefined): number | undefined {
  let [place, hash, at] = [head?.place ?? 0, head?.hash ?? genesisHash, head?.at ?? 0];
  for (const row of tables.entriesAfter.iterate(place, Number.MAX_SAFE_INTEGER)) {
    if (judgeNext({ place, hash }, row) !== undefined) return undefined;
    [place, hash, at] = [row.place, row.hash, row.at];
  }
  const isTip = place === seal.tip || (place === 0 && seqOf(seal.tip) === 0);
  return isTip && isSameCode(hash, seal.tipHash) ? at : undefined;
}

function isHeadKeyRight(
  tables: JournalTables,
  keys: JournalKeys,
  head: SignedHead | undefined,
  firstKey: Uint8Array,
): boolean {
  const before = head && tables.headAtOrBefore.get(head.place - 1);
  if (head && !isHeadSignedBy(head, before?.nextKey ?? firstKey)) return false;
  const current = tables.headKey.get();
  if (!current || !isSameCode(current.publicKey, head?.nextKey ?? firstKey)) return false;
  return unsealBytes(keys.master, headKeyName, current.sealed) !== undefined;
}
