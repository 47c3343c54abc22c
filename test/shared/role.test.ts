import { expect, it } from 'vitest';
import { type Action, actions, can, mayAssign, ranksAtLeast, roleAliases, roleKeys, toRoleKey } from '#shared/role.ts';

// Written out a second time on purpose: o owner, m facility_manager, s staff, t technician, g guest.
const matrix: Readonly<Record<Action, string>> = {
  issue_credential: 'oms',
  revoke_credential: 'oms',
  manage_reservation: 'oms',
  cancel_reservation: 'om',
  invite_member: 'om',
  decide_membership: 'om',
  refund_payment: 'om',
  match_transfer: 'om',
  manage_catalog: 'om',
  view_journal: 'omt',
  set_door_mode: 'omt',
  release_door: 'omst',
  manage_access: 'om',
  manage_gateway: 'ot',
  view_audit_log: 'o',
  import_facility: 'o',
  manage_token: 'o',
};
const letters = { owner: 'o', facility_manager: 'm', staff: 's', technician: 't', guest: 'g' } as const;

it('permits each action to exactly the roles of the matrix', () => {
  expect([...actions].sort()).toEqual(Object.keys(matrix).sort());
  for (const action of actions) {
    const permitted = roleKeys.filter((role) => can(role, action)).map((role) => letters[role]);
    expect(permitted.join(''), action).toBe(matrix[action]);
  }
});

it('understands every role and every alias, however it is written', () => {
  const writings = (key: string) => [
    key,
    key.toUpperCase(),
    ` ${key}\t`,
    key.replaceAll('_', ' '),
    key.replaceAll('_', '-'),
    key.replaceAll('_', ' - '),
  ];
  for (const role of roleKeys) for (const text of writings(role)) expect(toRoleKey(text), text).toBe(role);
  for (const [alias, role] of Object.entries(roleAliases)) {
    for (const text of writings(alias)) expect(toRoleKey(text), text).toBe(role);
  }
});

it('takes a text that is no role for nobody', () => {
  for (const text of ['', ' ', 'root', 'owners', 'constructor', '__proto__', 'own er', 'ownеr']) {
    expect(toRoleKey(text), text).toBeNull();
  }
});

it('ranks owner over manager over staff and technician, who are equal, over guest', () => {
  const order = [['owner'], ['facility_manager'], ['staff', 'technician'], ['guest']] as const;
  for (const [i, uppers] of order.entries()) {
    for (const [k, lowers] of order.entries()) {
      for (const upper of uppers) for (const lower of lowers) expect(ranksAtLeast(upper, lower)).toBe(i <= k);
    }
  }
});

it('lets only owners and managers give roles, and none above their own', () => {
  const given = roleKeys.map((giver) => [giver, roleKeys.filter((role) => mayAssign(giver, role)).join(' ')]);
  expect(Object.fromEntries(given)).toEqual({
    owner: 'owner facility_manager staff technician guest',
    facility_manager: 'facility_manager staff technician guest',
    staff: '',
    technician: '',
    guest: '',
  });
});
