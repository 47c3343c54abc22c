/**
 * What one gateway has to hold, out of what is said of a facility: the rows of a replica, and no row it does not need.
 *
 * A gateway needs its facility with schedules and holidays, the doors bound to it with their readers, and each holder to
 * whom one of those doors is granted, with all that the door may look up of that holder: a PIN without a grant is still the
 * second factor of a card that has one. A credential that ended keeps its row, so that the door can say why it refuses,
 * but no grant; a holder's name goes with the last key that could open something.
 * Guarantee: whoever computes a part gets the same rows as whoever computes the whole.
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
import type { CredentialStatus } from './machine.ts';

/** Rows are numbered as they are sent, not as they are said. */
type Unnumbered<Row> = Omit<Row, 'version'>;
export type DoorSettings = Omit<DoorRow, 'id' | 'name' | 'version'>;
export type ReaderSettings = Omit<ReaderRow, 'id' | 'name' | 'door' | 'version'>;

export interface SaidDoor {
  readonly id: DoorId;
  readonly name: string;
  readonly gateway: string | null;
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
  readonly facility: Unnumbered<FacilityRows['facility']>;
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

/** One row that a gateway has to hold. */
export type HeldRow =
  | { readonly kind: 'facility'; readonly row: SaidFacility['facility'] }
  | { readonly kind: 'schedule'; readonly row: SaidFacility['schedules'][number] }
  | { readonly kind: 'holiday'; readonly row: SaidFacility['holidays'][number] }
  | { readonly kind: 'door'; readonly row: Unnumbered<DoorRow> }
  | { readonly kind: 'reader'; readonly row: Unnumbered<ReaderRow> }
  | { readonly kind: 'holder'; readonly row: Unnumbered<HolderRow> }
  | { readonly kind: 'credential'; readonly row: Unnumbered<CredentialRow> }
  | { readonly kind: 'grant'; readonly row: Unnumbered<GrantRow> };

/** Whether it still opens something, or could again. */
export const isLive = (status: CredentialStatus): boolean => status === 'issued' || status === 'suspended';

/** @returns in the order in which a replica is filled. */
export function deriveFeedRows(said: SaidFacility, gateway: string): readonly HeldRow[] {
  const doors = said.doors.filter((door) => door.gateway === gateway);
  const doorIds = new Set(doors.map(({ id }) => id));
  const grants = said.grants.flatMap((grant) => grantRowsOf(grant, said.groups, doorIds));
  const lookedUp = said.credentials.filter(({ lookup }) => lookup !== null);
  const granted = new Set(grants.map((grant) => grant.credential));
  const near = new Set(lookedUp.filter(({ id }) => granted.has(id)).map(({ holder }) => holder));
  const credentials = lookedUp.filter(({ holder }) => near.has(holder));
  const live = credentials.filter(({ status }) => isLive(status));
  const liveIds = new Set(live.map(({ id }) => id));
  const keyed = new Set(live.map(({ holder }) => holder));
  return [
    { kind: 'facility', row: said.facility },
    ...said.schedules.map((row) => ({ kind: 'schedule', row }) as const),
    ...said.holidays.map((row) => ({ kind: 'holiday', row }) as const),
    ...doors.map((door) => ({ kind: 'door', row: doorRowOf(door) }) as const),
    ...said.readers
      .filter(({ door }) => doorIds.has(door))
      .map((reader) => ({ kind: 'reader', row: readerRowOf(reader) }) as const),
    ...said.holders.filter(({ id }) => keyed.has(id)).map((row) => ({ kind: 'holder', row }) as const),
    ...credentials.flatMap((credential) => {
      const row = credentialRowOf(credential);
      return row === undefined ? [] : [{ kind: 'credential', row } as const];
    }),
    ...grants.filter(({ credential }) => liveIds.has(credential)).map((row) => ({ kind: 'grant', row }) as const),
  ];
}

export const doorRowOf = ({ id, name, settings }: SaidDoor): Unnumbered<DoorRow> => ({ id, name, ...settings });

export const readerRowOf = ({ id, name, door, settings }: SaidReader): Unnumbered<ReaderRow> => ({
  id,
  name,
  door,
  ...settings,
});

/** One row per door of the grant that is among `doors`. */
export function grantRowsOf(
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
export function credentialRowOf(said: SaidCredential): Unnumbered<CredentialRow> | undefined {
  const { kind, lookup, status, leaseMs, ...row } = said;
  if (kind === 'pass' || lookup === null) return undefined;
  return { ...row, kind, lookup, status: status === 'expired' ? 'issued' : status, leaseMs: leaseMs ?? 'unlimited' };
}
