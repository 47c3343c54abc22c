/**
 * A gateway's journal and site under load, as a process of its own: appends, state, notes, keys, heads, carrying over.
 *
 * Whatever was acknowledged is then written, unsynced, to `acknowledged` in the same folder, so that a record of all
 * writes tells which acknowledgement came before which cut. Also prints it, for who kills the process.
 * Arguments: folder, number of rounds (0 = until killed).
 */
import { openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { EntryDraft, EntryKind } from '#gateway/journal/entry.ts';
import { openJournal } from '#gateway/journal/open-journal.ts';
import { openSite } from '#gateway/site/site-store.ts';
import { identifier } from '#shared/identifier.ts';
import { wallMs } from '#shared/instant.ts';

const folder = process.argv[2] ?? '';
const rounds = Number(process.argv[3] ?? 0) || Number.POSITIVE_INFINITY;
const masterKey = new Uint8Array(32).fill(7);

const opened = await openJournal({ directory: folder, masterKey, bootId: 'boot', reserveBytes: 65_536, noteMs: 5 });
const site = await openSite({ store: opened.siteStore, masterKey });
const acknowledged = openSync(join(folder, 'acknowledged'), 'a');
const acknowledge = (line: string): void => {
  writeSync(acknowledged, `${line}\n`);
  writeSync(1, `${line}\n`);
};

const draft = (kind: EntryKind, n: number): EntryDraft => ({
  kind,
  at: wallMs(1_768_478_400_000 + n),
  clockState: 'trusted',
  door: identifier<'door'>('front'),
  requestId: identifier<'request'>(`r-${n}`),
  body: { n, filling: 'x'.repeat((n * 37) % 700) },
});

acknowledge(`key ${Buffer.from(opened.archive.report.firstKey).toString('hex')}`);
const start = (await opened.journal.read({ newest: 1 })).at(-1)?.body['n'];
for (let n = typeof start === 'number' ? start + 1 : 0; n < rounds; n += 1) {
  if (n % 5 === 3) opened.journal.note([draft('door.opened', n)]);
  const together = Array.from({ length: 1 + (n % 3) }, (_, member) =>
    opened.journal.append(
      [draft('access.requested', n), draft('access.granted', n)],
      [{ kind: 'uses', key: `c-${member}`, value: n }],
    ),
  );
  for (const result of await Promise.all(together)) {
    if (result.kind === 'durable') acknowledge(`entries ${result.lastSeq} ${n}`);
  }
  if (n % 7 === 0) {
    await site.sealKey(`scbk/${n}`, new Uint8Array(16).fill(n));
    acknowledge(`sealed scbk/${n}`);
  }
  if (n % 11 === 0) await opened.archive.signHead();
  if (n % 13 === 0) await opened.archive.checkpoint();
}
process.kill(process.pid, 'SIGKILL');
