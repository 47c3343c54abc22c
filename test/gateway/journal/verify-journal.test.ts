/** Every tampering that an operator of the machine could try, against the first public key alone. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EntryRow, type JournalTables, prepareTables } from '#gateway/journal/journal-tables.ts';
import type { Stores } from '#gateway/journal/open-stores.ts';
import { codeOfSeal, headKeyName, stateKeyPurpose } from '#gateway/journal/state-seal.ts';
import { verifyJournal } from '#gateway/journal/verify-journal.ts';
import { unsealBytes } from '#gateway/site/sealed-keys.ts';
import { deriveKey } from '#gateway/store/row-code.ts';
import { entryHash, hexOf, placeOf, seqOf } from '#shared/journal-chain.ts';
import { type SignedHead, signHead } from '#shared/signed-head.ts';
import {
  appendHere,
  closeHere,
  createFolder,
  draft,
  type Folder,
  grantOf,
  masterKey,
  openHere,
  openIn,
  signHere,
} from './journal-fixture.ts';

let folder: Folder;
let stores: Stores;
let firstKey: Uint8Array;
let path: string;

/** 30 entries under three heads (at 10, 20, 30). */
beforeEach(() => {
  folder = createFolder();
  path = join(folder.path, 'journal.db');
  stores = openHere(folder.path);
  firstKey = stores.report.firstKey;
  for (let head = 0; head < 3; head += 1) {
    for (let pair = 0; pair < 5; pair += 1) appendHere(stores, grantOf(`r-${head}-${pair}`));
    signHere(stores);
  }
});
afterEach(() => folder.remove());

interface Forger {
  readonly db: Database.Database;
  readonly tables: JournalTables;
}

/** Opens the file as somebody with the machine in their hands: no triggers hold them. */
function forge(work: (forger: Forger) => void): void {
  const db = new Database(path);
  const triggers = db
    .prepare<[], { name: string; sql: string }>("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    .all();
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`);
  work({ db, tables: prepareTables(db) });
  for (const { sql } of triggers) db.exec(sql);
  db.close();
}

const at = (seq: number): number => placeOf(1, seq);
const verdict = (options = {}) => verifyJournal(path, firstKey, options);
const broken = (seq: number, reason: string) => ({ kind: 'broken', at: { epoch: 1, seq }, reason });

/** Rewrites the chain from `seq` on so that every hash fits again, and every head with today's key. */
function resealFrom({ tables, db }: Forger, seq: number, withHeads: boolean): void {
  let previous = tables.entryAt.get(at(seq - 1))?.hash ?? new Uint8Array(32);
  for (const row of tables.entriesAfter.all(at(seq - 1), 1_000)) {
    const link = { ...row, prevHash: previous };
    const hash = entryHash(link);
    db.prepare('UPDATE entry SET prev_hash = ?, hash = ? WHERE place = ?').run(previous, hash, row.place);
    previous = hash;
  }
  const seal = tables.seal.get();
  const extent = tables.extent.get();
  if (!seal || !extent) throw new Error('the fixture has a seal');
  const fresh = { ...seal, tipHash: previous };
  tables.putSeal.run({ ...fresh, code: codeOfSeal(deriveKey(masterKey, stateKeyPurpose), fresh, extent) });
  if (withHeads) resignHeads({ tables, db });
}

function resignHeads({ tables, db }: Forger): void {
  const sealed = tables.headKey.get()?.sealed;
  const today = sealed && unsealBytes(masterKey, headKeyName, sealed);
  if (!today) throw new Error('the forger holds the master key');
  for (const head of tables.headsAfter.all(0, 100)) {
    const hash = tables.entryAt.get(head.place)?.hash ?? head.hash;
    const forged: SignedHead = signHead({ ...head, hash }, today);
    db.prepare('UPDATE head SET hash = ?, signature = ? WHERE place = ?').run(hash, forged.signature, head.place);
  }
}

describe('an honest journal', () => {
  afterEach(() => closeHere(stores));

  it('verifies from the first public key, while it is being written', () => {
    expect(verdict()).toMatchObject({ kind: 'whole', entries: 30, heads: 3, unsigned: 0 });
    appendHere(stores, grantOf('r-new'));
    expect(verdict({ masterKey })).toMatchObject({ kind: 'whole', entries: 32, unsigned: 2 });
  });

  it('does not verify from another key', () => {
    expect(verifyJournal(path, new Uint8Array(32).fill(1))).toEqual(broken(10, 'head-forged'));
  });

  it('agrees with a head that was kept elsewhere', () => {
    const head = stores.journal.tables.headAtOrBefore.get(at(15)) as SignedHead;
    expect(verdict({ keptHead: { epoch: 1, seq: seqOf(head.place), hash: hexOf(head.hash) } })).toMatchObject({
      kind: 'whole',
    });
  });
});

describe('a journal that somebody changed', () => {
  beforeEach(() => closeHere(stores));

  it('refuses UPDATE and DELETE through SQL', () => {
    const db = new Database(path);
    expect(() => db.exec("UPDATE entry SET kind = 'access.refused'")).toThrow('an entry is never changed');
    expect(() => db.exec('DELETE FROM entry')).toThrow('an entry above the boundary is kept');
    expect(() => db.exec('DELETE FROM head')).toThrow('a head is kept');
    const replace = `REPLACE INTO entry SELECT place, boot_id, at, clock_state, 'door.opened', door_id, request_id, body,
      personal_hash, prev_hash, hash FROM entry WHERE place = ${at(4)}`;
    expect(() => db.exec(`PRAGMA recursive_triggers = ON; ${replace}`)).toThrow('an entry above the boundary is kept');
    db.close();
  });

  it('names an entry that was deleted', () => {
    forge(({ db }) => db.exec(`DELETE FROM entry WHERE place = ${at(7)}`));
    expect(verdict()).toEqual(broken(7, 'missing'));
  });

  it.each(['kind', 'body', 'request_id', 'door_id', 'boot_id'])('names an entry whose %s was edited', (column) => {
    forge(({ db }) => db.exec(`UPDATE entry SET ${column} = '{}' WHERE place = ${at(5)}`));
    expect(verdict()).toEqual(broken(5, 'edited'));
  });

  it('names an entry that was edited with its own hash made to fit', () => {
    forge(({ db, tables }) => {
      const row = tables.entryAt.get(at(5)) as EntryRow;
      const edited = { ...row, kind: 'access.refused' };
      db.prepare('UPDATE entry SET kind = ?, hash = ? WHERE place = ?').run(edited.kind, entryHash(edited), at(5));
    });
    expect(verdict()).toEqual(broken(6, 'link-broken'));
  });

  it('names the first of two entries that changed places', () => {
    forge(({ db }) => {
      db.exec(`UPDATE entry SET place = 1 WHERE place = ${at(8)}`);
      db.exec(`UPDATE entry SET place = ${at(8)} WHERE place = ${at(9)}`);
      db.exec(`UPDATE entry SET place = ${at(9)} WHERE place = 1`);
    });
    expect(verdict()).toEqual(broken(8, 'link-broken'));
  });

  it('is not fooled by a chain made to fit up to the last head', () => {
    forge((forger) => {
      forger.db.exec(`UPDATE entry SET kind = 'access.refused' WHERE place = ${at(12)}`);
      resealFrom(forger, 12, false);
    });
    expect(verdict()).toEqual(broken(20, 'head-differs'));
  });

  it('is not fooled by heads signed again with the key of today', () => {
    forge((forger) => {
      forger.db.exec(`UPDATE entry SET kind = 'access.refused' WHERE place = ${at(12)}`);
      resealFrom(forger, 12, true);
    });
    expect(verdict()).toEqual(broken(10, 'head-forged'));
  });

  it('notices heads and entries cut off the end', () => {
    forge(({ db }) => {
      db.exec(`DELETE FROM entry WHERE place > ${at(20)}`);
      db.exec(`DELETE FROM head WHERE place > ${at(20)}`);
    });
    expect(verdict()).toEqual(broken(21, 'truncated'));
  });

  it('notices entries cut off the beginning with the boundary moved behind them', () => {
    forge(({ db, tables }) => {
      const head = tables.headAtOrBefore.get(at(10)) as SignedHead;
      db.exec(`DELETE FROM entry WHERE place <= ${at(10)}`);
      db.prepare('UPDATE extent SET boundary = ?, boundary_hash = ?').run(head.place, head.hash);
    });
    expect(verdict()).toEqual(broken(11, 'boundary-unexplained'));
  });

  it('notices a whole older file by a head kept elsewhere', () => {
    const keptHead = { epoch: 1, seq: 40, hash: '00'.repeat(32) };
    expect(verdict({ keptHead })).toEqual(broken(31, 'rolled-back'));
    expect(verdict({ keptHead: { ...keptHead, seq: 20 } })).toEqual(broken(20, 'rewritten'));
  });
});

describe('an end after the last head', () => {
  beforeEach(() => {
    appendHere(stores, [...grantOf('r-last'), ...grantOf('r-very-last')]);
    closeHere(stores);
  });

  it('cannot be edited by halves', () => {
    forge(({ db }) => db.exec(`UPDATE entry SET body = '{}' WHERE place = ${at(33)}`));
    expect(verdict()).toEqual(broken(33, 'edited'));
  });

  it('cannot be cut off without the master key', () => {
    forge(({ db, tables }) => {
      db.exec(`DELETE FROM entry WHERE place > ${at(32)}`);
      const last = tables.entryAt.get(at(32)) as EntryRow;
      db.prepare('UPDATE journal_seal SET tip = ?, tip_hash = ?').run(at(32), last.hash);
    });
    expect(verdict({ masterKey })).toEqual(broken(32, 'edited'));
  });

  it('is noticed when entries are cut off and nothing else', () => {
    forge(({ db }) => db.exec(`DELETE FROM entry WHERE place > ${at(32)}`));
    expect(verdict()).toEqual(broken(33, 'truncated'));
  });
});

describe('values about persons', () => {
  const secret = { ...draft('access.refused'), personal: { name: 'Hanako Yamada-Quist' } };

  it('are erased from the file, and the chain still verifies', async () => {
    closeHere(stores);
    const opened = await openIn(folder.path);
    const written = await opened.journal.append([secret]);
    if (written.kind !== 'durable') throw new Error('the disk is well');
    const where = { epoch: 1, seq: written.firstSeq };
    expect(await opened.archive.personal(where)).toEqual({ name: 'Hanako Yamada-Quist' });
    expect(filesThatHold('Yamada-Quist')).not.toEqual([]);
    expect(await opened.archive.erasePersonal({ epoch: 1, seqs: [where.seq] })).toBe(1);
    expect(await opened.archive.personal(where)).toBeUndefined();
    expect(verdict({ masterKey })).toMatchObject({ kind: 'whole', entries: 31 });
    expect(filesThatHold('Yamada-Quist')).toEqual([]);
    await opened.journal.close();
  });

  it('that were edited are noticed', () => {
    appendHere(stores, [secret]);
    closeHere(stores);
    forge(({ db }) => db.exec(`UPDATE entry_private SET value = '{"name":"Taro"}'`));
    expect(verdict()).toEqual(broken(31, 'personal-edited'));
  });
});

const filesThatHold = (text: string): readonly string[] =>
  readdirSync(folder.path).filter((name) => readFileSync(join(folder.path, name)).includes(text));
