import { describe, expect, it } from 'vitest';
import { DatabaseFault, databaseFault, sqlState, withDatabaseFaults } from '#cloud/database/database-fault.ts';

const coded = (code: string): Error => Object.assign(new Error('words'), { code });

describe('a fault of the database', () => {
  it.each([
    ['57014', 'DATABASE_BUSY'],
    ['55P03', 'DATABASE_BUSY'],
    ['25P03', 'DATABASE_BUSY'],
    ['40P01', 'DATABASE_BUSY'],
    ['40001', 'DATABASE_BUSY'],
    ['08006', 'DATABASE_UNAVAILABLE'],
    ['57P01', 'DATABASE_UNAVAILABLE'],
    ['53300', 'DATABASE_UNAVAILABLE'],
    ['53100', 'DATABASE_UNAVAILABLE'],
    ['25006', 'DATABASE_UNAVAILABLE'],
    ['ECONNREFUSED', 'DATABASE_UNAVAILABLE'],
    ['ECONNRESET', 'DATABASE_UNAVAILABLE'],
  ])('is known by %s as %s, with its cause', (code, fault) => {
    const cause = coded(code);
    expect(databaseFault(cause)).toMatchObject({ code: fault, cause });
  });

  it('is known by the driver’s words where there is no code, and in a bundle of tries', () => {
    for (const words of [
      'Connection terminated unexpectedly',
      'timeout exceeded when trying to connect',
      'Query read timeout',
    ]) {
      expect(databaseFault(new Error(words))).toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    }
    expect(databaseFault(new AggregateError([coded('ECONNREFUSED')]))).toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
  });

  it('is not what a verb expects, nor a bug', () => {
    for (const code of ['23505', '23P01', '42501', '42703', 'KN011']) {
      expect(databaseFault(coded(code))).toBeUndefined();
      expect(sqlState(coded(code))).toBe(code);
    }
    for (const other of [new Error('Connection to reality lost'), new TypeError('x'), 'text', undefined]) {
      expect(databaseFault(other)).toBeUndefined();
    }
  });

  it('comes out typed once, and anything else as it is', async () => {
    const fault = new DatabaseFault('DATABASE_BUSY', 'x');
    await expect(withDatabaseFaults(() => Promise.reject(fault))).rejects.toBe(fault);
    const bug = coded('42703');
    await expect(withDatabaseFaults(() => Promise.reject(bug))).rejects.toBe(bug);
    await expect(withDatabaseFaults(() => Promise.reject(coded('57P03')))).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
    });
  });
});
