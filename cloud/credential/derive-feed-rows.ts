/**
 * What gateways have to hold, out of what is said of a facility: the rows of a replica, as changes that put them there.
 *
 * A grant of a group is one row for each of its doors. A credential that ended keeps its row, so that the door can say why
 * it refuses, but no grant; a holder's name goes with the last key that could open something.
 * Guarantee: whoever computes a part gets the same rows as whoever computes the whole.
 * Not promised: to which gateway a row goes; that follows from the doors that are bound to it.
 */
import type {
  CredentialRow,
  DoorRow,
  FacilityRows,
  GrantRow,
  HolderRow,
  ReaderRow,
} from '#shared/contract/replica-row.ts';
import type { CredentialId, DoorId, GrantId, HolderId, ReaderId, ScheduleId } from '#shared/identifier.ts';
import type { WallMs } from '#shared/instant.ts';
import type { RowOf } from '#shared/replica-columns.ts';
import type { RowKind } from '#shared/replica-digest.ts';
import type { CredentialStatus } from './machine.ts';

/** Rows are numbered as they are sent, not as they are said. */
type Unnumbered<Row> = Omit<Row, 'version'>;
export type DoorSettings = Omit<DoorRow, 'id' | 'name' | 'version'>;
export type ReaderSettings = Omit<ReaderRow, 'id' | 'name' | 'door' | 'version'>;

export interface SaidDoor {
  readonly id: DoorId;
  readonly name: string;
  readonly settings: DoorSettings;
}

export interface SaidReader {
  readonly id: ReaderId;
  readonly name: string;
  readonly door: DoorId;
  readonly settings: ReaderSettings;
}

export interface SaidCredential {
  readonly id: CredentialId;
  readonly holder: HolderId;
  readonly kind: 'card' | 'pin' | 'pass';
  /** `null` where it has none: a pass is not looked up, and of what ended long ago none is kept. */
  readonly lookup: string | null;
  readonly status: CredentialStatus;
  readonly validFrom: WallMs | null;
  readonly validUntil: WallMs | null;
  readonly leaseMs: number | null;
  readonly usesMax: number | null;
  readonly isDuress: boolean;
  readonly overridesLockdown: boolean;
  readonly needsExtendedTime: boolean;
  readonly isFirstPerson: boolean;
}

/** A grant of a door, or of each door of a group. */
export interface SaidGrant {
  readonly id: GrantId;
  readonly credential: CredentialId;
  readonly target: { readonly door: DoorId } | { readonly group: string };
  readonly schedule: ScheduleId | null;
  readonly validFrom: WallMs | null;
  readonly validUntil: WallMs | null;
}

export interface SaidFacility {
  /** Left out where only a part is asked for. */
  readonly facility: Unnumbered<FacilityRows['facility']> | undefined;
  readonly schedules: readonly Unnumbered<FacilityRows['schedules'][number]>[];
  readonly holidays: readonly Unnumbered<FacilityRows['holidays'][number]>[];
  readonly doors: readonly SaidDoor[];
  readonly readers: readonly SaidReader[];
  /** Doors of each group. */
  readonly groups: ReadonlyMap<string, readonly DoorId[]>;
  readonly holders: readonly Unnumbered<HolderRow>[];
  readonly credentials: readonly SaidCredential[];
  readonly grants: readonly SaidGrant[];
}

/** A row to be put, without the version that it gets with its place in a feed. */
export type FeedPutDraft = {
  readonly [Kind in RowKind]: { readonly op: 'put'; readonly kind: Kind; readonly row: Unnumbered<RowOf[Kind]> };
}[RowKind];

/** Whether it still opens something, or could again. */
export const isLive = (status: CredentialStatus): boolean => status === 'issued' || status === 'suspended';

/** @returns in the order in which a replica is filled. */
export function deriveFeedRows(said: SaidFacility): readonly FeedPutDraft[] {
  const doors = new Set(said.doors.map(({ id }) => id));
  const credentials = said.credentials.flatMap((credential) => credentialRowOf(credential) ?? []);
  const live = new Map(said.credentials.filter(isKey).map(({ id, holder }) => [id, holder]));
  const keyed = new Set(live.values());
  return [
    ...(said.facility === undefined ? [] : [put('facility', said.facility)]),
    ...said.schedules.map((row) => put('schedule', row)),
    ...said.holidays.map((row) => put('holiday', row)),
    ...said.doors.map(({ id, name, settings }) => put('door', { id, name, ...settings })),
    ...said.readers
      .filter(({ door }) => doors.has(door))
      .map(({ id, name, door, settings }) => put('reader', { id, name, door, ...settings })),
    ...said.holders.filter(({ id }) => keyed.has(id)).map((row) => put('holder', row)),
    ...credentials.map((row) => put('credential', row)),
    ...said.grants
      .filter(({ credential }) => live.has(credential))
      .flatMap((grant) => grantRowsOf(grant, said.groups, doors))
      .map((row) => put('grant', row)),
  ];
}

const put = <Kind extends FeedPutDraft['kind']>(
  kind: Kind,
  row: Extract<FeedPutDraft, { readonly kind: Kind }>['row'],
): FeedPutDraft => ({ op: 'put', kind, row }) as FeedPutDraft;

/** Whether doors look it up and it could open something. */
const isKey = ({ status, lookup, kind }: SaidCredential): boolean =>
  isLive(status) && lookup !== null && kind !== 'pass';

/** One row per door of the grant that there is. */
function grantRowsOf(
  grant: SaidGrant,
  groups: ReadonlyMap<string, readonly DoorId[]>,
  doors: ReadonlySet<DoorId>,
): readonly Unnumbered<GrantRow>[] {
  const { id, credential, target, schedule, validFrom, validUntil } = grant;
  const named = 'door' in target ? [target.door] : (groups.get(target.group) ?? []);
  return named
    .filter((door) => doors.has(door))
    .map((door) => ({ grant: id, credential, door, schedule, validFrom, validUntil }));
}

/**
 * Of a credential whose time is over the door says that it expired, by its validity; of one that was revoked, that it was.
 * @returns `undefined` for one that is not looked up.
 */
function credentialRowOf(said: SaidCredential): Unnumbered<CredentialRow> | undefined {
  const { kind, lookup, status, leaseMs, ...row } = said;
  if (kind === 'pass' || lookup === null) return undefined;
  return { ...row, kind, lookup, status: status === 'expired' ? 'issued' : status, leaseMs: leaseMs ?? 'unlimited' };
}
