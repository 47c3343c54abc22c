/** A journal as a gateway keeps it, in memory: entries in a chain, heads signed by keys that replace each other. */
import type { UploadedEntry, UploadedHead } from '#shared/contract/sync/journal.ts';
import { entryHash, hexOf, placeOf } from '#shared/journal-chain.ts';
import { createHeadKey, signHead } from '#shared/signed-head.ts';
import { toBase64url } from '#shared/signed-statement.ts';

const noHash = '0'.repeat(64);

export class TestJournal {
  #key = createHeadKey();
  readonly firstKey = this.#key.publicKey;
  epoch = 1;
  entries: UploadedEntry[] = [];
  heads: UploadedHead[] = [];
  /** As far as the cloud has said that it has it. */
  acked = 0;

  append(kind: string, detail: Partial<UploadedEntry> = {}): UploadedEntry {
    const seq = this.entries.length + 1;
    const prevHash = this.entries.at(-1)?.hash ?? noHash;
    const bare = {
      bootId: 'boot',
      at: 1_700_000_000_000 + seq,
      clockState: 'trusted' as const,
      kind,
      door: null,
      requestId: null,
      body: '{}',
      personalHash: null,
      ...detail,
    };
    const personal = bare.personalHash === null ? null : Buffer.from(bare.personalHash, 'hex');
    const chained = { ...bare, personalHash: personal, prevHash: Buffer.from(prevHash, 'hex') };
    const entry = { seq, ...bare, hash: hexOf(entryHash({ ...chained, place: placeOf(this.epoch, seq) })) };
    this.entries.push(entry);
    return entry;
  }

  sign(): void {
    const last = this.entries.at(-1);
    if (!last || last.seq === this.heads.at(-1)?.seq) return;
    const next = createHeadKey();
    const claim = {
      place: placeOf(this.epoch, last.seq),
      at: last.at,
      hash: Buffer.from(last.hash, 'hex'),
      nextKey: next.publicKey,
    };
    const { signature } = signHead(claim, this.#key.privateKey);
    this.heads.push({
      epoch: this.epoch,
      seq: last.seq,
      at: last.at,
      hash: last.hash,
      nextKey: toBase64url(next.publicKey),
      signature: toBase64url(signature),
    });
    this.#key = next;
  }

  /** What the cloud has not acked, under a head. */
  upload(from = this.acked + 1): object {
    this.sign();
    return {
      epoch: this.epoch,
      firstSeq: from,
      prevHash: this.entries[from - 2]?.hash ?? noHash,
      entries: this.entries.slice(from - 1),
      heads: this.heads.filter(({ seq }) => seq >= from),
    };
  }

  /** Another box with the same past: what both append from now on differs. */
  copy(): TestJournal {
    const twin = new TestJournal();
    twin.#key = this.#key;
    twin.epoch = this.epoch;
    twin.entries = [...this.entries];
    twin.heads = [...this.heads];
    twin.acked = this.acked;
    return twin;
  }
}
