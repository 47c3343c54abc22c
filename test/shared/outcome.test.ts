import { expect, it } from 'vitest';
import type { Code } from '#shared/code.ts';
import type { Outcome } from '#shared/outcome.ts';
import { unreachable } from '#shared/unreachable.ts';

function told(outcome: Outcome<'issued' | 'revoked'>): string {
  switch (outcome.status) {
    case 'applied':
      return outcome.to;
    case 'noop':
    case 'refused':
      return outcome.code;
    case 'conflict':
      return outcome.current;
  }
}

function forgetful(outcome: Outcome<'issued' | 'revoked'>): string {
  switch (outcome.status) {
    case 'applied':
      return outcome.to;
    case 'noop':
      return outcome.code;
    case 'conflict':
      return outcome.current;
    default:
      // The compiler is the test here: were `refused` handled, or not part of the union, the error would be missing.
      // @ts-expect-error a refusal is left over, which is not `never`
      return unreachable(outcome);
  }
}

// @ts-expect-error a code that is not in the registry is none
const invented: Code = 'NO_SUCH_CODE';

it('has exactly four branches, each with what its reader needs', () => {
  expect(told({ status: 'applied', to: 'issued' })).toBe('issued');
  expect(told({ status: 'noop', code: 'ALREADY_REVOKED' })).toBe('ALREADY_REVOKED');
  expect(told({ status: 'conflict', code: 'CREDENTIAL_STATE_CHANGED', current: 'revoked' })).toBe('revoked');
  expect(told({ status: 'refused', code: 'ILLEGAL_TRANSITION' })).toBe('ILLEGAL_TRANSITION');
});

it('stops a reader that forgot `refused`, which the compiler had refused', () => {
  expect(() => forgetful({ status: 'refused', code: 'ILLEGAL_TRANSITION' })).toThrow('unreachable');
  expect(invented).toBe('NO_SUCH_CODE');
});
