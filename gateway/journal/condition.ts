/**
 * From a fault of the disk to what the journal can still take. Pure.
 */
import type { StoreFault } from '../store/store-fault.ts';
import type { JournalState } from './journal.ts';

export type StorageState = 'ok' | 'reserve-spent' | 'full' | 'read-only' | 'failed';

/** What a journal can take, and why not. */
export interface JournalCondition {
  readonly state: JournalState;
  readonly storage: StorageState;
}

export function conditionOf(cause: 'ok' | 'reserve-spent' | StoreFault): JournalCondition {
  if (cause === 'ok' || cause === 'reserve-spent') return { state: { kind: 'available' }, storage: cause };
  const detail = cause.message;
  if (cause.code === 'STORE_FULL') return { state: { kind: 'full', detail }, storage: 'full' };
  const storage = cause.code === 'STORE_READ_ONLY' ? 'read-only' : 'failed';
  return { state: { kind: 'failed', detail }, storage };
}
