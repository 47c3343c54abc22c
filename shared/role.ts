/**
 * Who may do what: five roles, their rank, and the one table of actions.
 *
 * A role counts in the facility it was given for and nowhere else. A text that is no role is nobody, never a default.
 * Guests have no action: they act on their own stay by ownership.
 */
export const roleKeys = ['owner', 'facility_manager', 'staff', 'technician', 'guest'] as const;
export type RoleKey = (typeof roleKeys)[number];

/** What other systems call our roles. */
export const roleAliases: Readonly<Record<string, RoleKey>> = {
  admin: 'owner',
  facility_admin: 'facility_manager',
  manager: 'facility_manager',
  member: 'staff',
};

/** @returns the role a text means (case, runs of spaces and hyphens do not matter), or `null`. */
export function toRoleKey(text: string): RoleKey | null {
  const key = text
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');
  const exact = roleKeys.find((role) => role === key);
  if (exact !== undefined) return exact;
  return Object.hasOwn(roleAliases, key) ? (roleAliases[key] ?? null) : null;
}

const ranks: Readonly<Record<RoleKey, number>> = { owner: 3, facility_manager: 2, staff: 1, technician: 1, guest: 0 };

/** Whether the first role stands at least as high as the second: owner > facility_manager > staff, technician > guest. */
export const ranksAtLeast = (role: RoleKey, other: RoleKey): boolean => ranks[role] >= ranks[other];

const owner: readonly RoleKey[] = ['owner'];
const managers: readonly RoleKey[] = ['owner', 'facility_manager'];
const desk: readonly RoleKey[] = ['owner', 'facility_manager', 'staff'];

const permitted = {
  issue_credential: desk,
  revoke_credential: desk,
  manage_reservation: desk,
  cancel_reservation: managers,
  invite_member: managers,
  decide_membership: managers,
  refund_payment: managers,
  match_transfer: managers,
  manage_catalog: managers,
  view_journal: ['owner', 'facility_manager', 'technician'],
  set_door_mode: ['owner', 'facility_manager', 'technician'],
  release_door: ['owner', 'facility_manager', 'staff', 'technician'],
  manage_access: managers,
  manage_gateway: ['owner', 'technician'],
  view_audit_log: owner,
  import_facility: owner,
  manage_token: owner,
} as const satisfies Record<string, readonly RoleKey[]>;

export type Action = keyof typeof permitted;
export const actions = Object.keys(permitted) as readonly Action[];

/** Whether the role permits the action. */
export function can(role: RoleKey, action: Action): boolean {
  return (permitted[action] as readonly RoleKey[]).includes(role);
}

/** Whether somebody of this role may give or take the other role (never for oneself, which the caller checks). */
export function mayAssign(assigner: RoleKey, role: RoleKey): boolean {
  return can(assigner, 'invite_member') && ranksAtLeast(assigner, role);
}
