import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { type ChainLink, chainHash, chainStart, createChainCheck } from '#shared/hash-chain.ts';

function chainOf(texts: readonly string[]): readonly ChainLink[] {
  let previous = chainStart;
  return texts.map((text, index) => {
    const link = { seq: index + 1, previous, hash: chainHash(previous, text), text };
    previous = link.hash;
    return link;
  });
}
const chain = chainOf(['opened', '開錠', '', 'line\nfeed', 'closed']);
const faults = (links: readonly ChainLink[]) => {
  const check = createChainCheck();
  return links.map(check);
};

it('hashes the previous hash, a line feed and the text, so that another program computes the same', () => {
  const other = createHash('sha256').update(`${chainStart}\nopened`, 'utf8').digest('hex');
  expect(chain[0]?.hash).toBe(other);
});

it('finds nothing wrong with a chain as it was written', () => {
  expect(faults(chain)).toEqual(chain.map(() => undefined));
});

it('finds an edited entry at its place, wherever it is', () => {
  for (const at of chain.keys()) {
    const edited = chain.map((link, index) => (index === at ? { ...link, text: `${link.text}!` } : link));
    expect(faults(edited).indexOf('edited')).toBe(at);
    const resealed = edited.map((link) => ({ ...link, hash: chainHash(link.previous, link.text) }));
    const expected = at + 1 < chain.length ? 'relinked' : undefined;
    expect(faults(resealed)[at + 1]).toBe(expected);
  }
});

it('finds a missing, doubled or moved entry', () => {
  for (let at = 0; at + 1 < chain.length; at += 1) {
    expect(faults(chain.filter((_, index) => index !== at))[at]).toBe('missing');
  }
  expect(faults([...chain.slice(0, 2), ...chain.slice(1)])[2]).toBe('missing');
  const moved = chainOf(['opened', 'closed']).toReversed();
  expect(faults(moved)[0]).toBe('missing');
});
