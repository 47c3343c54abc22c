/** Takes the card that was shown in an enrolment window: the first one that reader read, good for one credential. */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { normalizeCard } from '#protocol/wiegand/normalize-card.ts';
import { type CardReading, cloneableAs } from '#protocol/wiegand/written-card.ts';
import type { ReaderSettings } from './derive-feed-rows.ts';
import { type RefusedWrite, refusedAt } from './written.ts';

/** A card that a reader of a gateway read; zeros and ones, the first bit first, as they came. */
export interface ShownCard {
  readonly reader: string;
  readonly gateway: string;
  readonly bits: string;
  readonly at: Date;
}

/** The cards shown for a window so far, oldest first. */
export type ReadShownCards = (
  transaction: TenantTransaction,
  window: { readonly facilityId: string; readonly windowId: string },
) => Promise<readonly ShownCard[]>;

/** How long after it closed a card that was shown in time may still be taken. */
const takenWithinMinutes = 15;

interface WindowRow {
  readonly reader_id: string;
  readonly gateway_id: string;
  readonly closes_at: Date;
  readonly used_at: Date | null;
  readonly is_open: boolean;
  readonly is_recent: boolean;
  readonly settings: ReaderSettings;
}

export type SeenWindow = WindowRow & { readonly card: Extract<CardReading, { readonly kind: 'card' }> | undefined };

/** The window with the card that counts, if one was shown. */
export async function readWindow(
  transaction: TenantTransaction,
  shown: ReadShownCards,
  place: { readonly facility: string; readonly id: string },
): Promise<SeenWindow | undefined> {
  const { facility, id } = place;
  const found =
    await sql<WindowRow>`select w.reader_id, w.gateway_id, w.closes_at, w.used_at, w.closes_at > now() as is_open,
      w.closes_at + make_interval(mins => ${takenWithinMinutes}) > now() as is_recent, r.settings
    from enrolment_window w join reader r on r.facility_id = w.facility_id and r.id = w.reader_id
    where w.facility_id = ${facility} and w.id = ${id} for update of w`.execute(transaction);
  const [row] = found.rows;
  if (!row) return undefined;
  const cards = await shown(transaction, { facilityId: facility, windowId: id });
  const first = cards.find(
    ({ reader, gateway, at }) => reader === row.reader_id && gateway === row.gateway_id && at <= row.closes_at,
  );
  return { ...row, card: first === undefined ? undefined : cardOf(first.bits, row.settings.uidOrder) };
}

function cardOf(bits: string, order: ReaderSettings['uidOrder']): SeenWindow['card'] {
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, '0');
  const bytes = Uint8Array.from(padded.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
  const bitCount = bits.length;
  const normalized = normalizeCard({ bitCount, bytes }, order === 'reversed' ? 'reversed' : 'as-read');
  return normalized === undefined ? undefined : { kind: 'card', normalized, cloneableAs: cloneableAs(bitCount) };
}

/** @param wanted `at` is where the credential stands in the request. */
export async function takeWindow(
  transaction: TenantTransaction,
  shown: ReadShownCards,
  wanted: { readonly facility: string; readonly id: string; readonly at: string },
): Promise<Extract<CardReading, { readonly kind: 'card' }> | RefusedWrite> {
  const { facility, id, at } = wanted;
  const path = `${at}/card/window`;
  const window = await readWindow(transaction, shown, wanted);
  if (!window) return refusedAt('REFERENCE_UNKNOWN', path, 'field.reference_unknown');
  const { card, used_at, is_open, is_recent } = window;
  if (used_at !== null || !is_recent) return refusedAt('ENROLMENT_CLOSED', path, 'field.invalid');
  if (!card) return refusedAt(is_open ? 'ENROLMENT_WAITING' : 'ENROLMENT_CLOSED', path, 'field.invalid');
  await sql`update enrolment_window set used_at = now(), version = version + 1
    where facility_id = ${facility} and id = ${id}`.execute(transaction);
  return card;
}
