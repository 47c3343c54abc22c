import { expect, it } from 'vitest';
import { deriveKey, dueEvent, type KeyFacts, keyHolds } from '#cloud/credential/derive-key.ts';
import { credentialMachine } from '#cloud/credential/machine.ts';
import { wallMs } from '#shared/instant.ts';
import { may, step } from '#shared/machine.ts';
import { roleKeys } from '#shared/role.ts';

const at = wallMs(1_000_000);
const ends = [null, wallMs(0), wallMs(at - 1), at, wallMs(at + 1), wallMs(8_640_000_000_000_000)];

/** All that can be said of a key. */
const everything: readonly KeyFacts[] = (['present', 'erased', 'absent'] as const).flatMap((holder) =>
  (['not-needed', null, ...roleKeys] as const).flatMap((role) =>
    ends.map((validUntil) => ({ at, holder, role, validUntil })),
  ),
);

it('lets a key exist exactly where its holder is here, its role stands or is not needed, and its time is not over', () => {
  for (const facts of everything) {
    const expected =
      facts.holder === 'present' && facts.role !== null && (facts.validUntil === null || facts.validUntil > at);
    expect(deriveKey(facts).mayExist, JSON.stringify(facts)).toBe(expected);
  }
});

it('never gives back what was taken: whoever loses one more ground keeps no key', () => {
  for (const facts of everything) {
    if (deriveKey(facts).mayExist) continue;
    for (const worse of [
      { ...facts, holder: 'erased' as const },
      { ...facts, role: null },
      { ...facts, validUntil: at },
    ])
      expect(deriveKey(worse).mayExist).toBe(false);
  }
});

it('says with a code why not, the same one whoever asks', () => {
  for (const facts of everything) {
    const key = deriveKey(facts);
    if (key.mayExist) continue;
    const restored = step(credentialMachine, 'suspended', 'restore', { ...keyHolds(facts), isTimeOver: false });
    expect(restored).toEqual({ status: 'refused', code: key.code });
  }
});

it('ends a key by its time where only that is over, and takes it back for any other reason', () => {
  for (const facts of everything) {
    const due = dueEvent(facts);
    expect(due === undefined).toBe(deriveKey(facts).mayExist);
    const isOnlyOver = facts.holder === 'present' && facts.role !== null && due !== undefined;
    if (due !== undefined) expect(due).toBe(isOnlyOver ? 'expire' : 'revoke');
  }
});

it('never brings back a credential that ended', () => {
  for (const state of ['revoked', 'expired'] as const)
    for (const event of credentialMachine.events) expect(may(credentialMachine, state, event)).toBe(false);
});
