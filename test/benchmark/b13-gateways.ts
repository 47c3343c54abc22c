/**
 * Gateways that wait, all in this process: each holds one poll at a time and asks again with the answer.
 *
 * They prove themselves as edge does, share one key, verify nothing and apply nothing: what is measured is the cloud.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { Agent, get } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { transportToken } from '#gateway/sync/transport-token.ts';
import { waitMsMax } from '#shared/contract/sync/feed.ts';
import { invariant } from '#shared/invariant.ts';

/** What the parent sends once. */
export interface Crowd {
  readonly url: string;
  readonly gateways: readonly string[];
  /** Edge's, PKCS #8, hexadecimal. */
  readonly key: string;
  /** As a poll declares them. */
  readonly kinds: string;
  /** How many come each second. */
  readonly perSecond: number;
}

/** What it hears: an answer with changes in it, when (ms since 1970, as exact as the clock), or a poll that failed. */
export type Heard =
  | { readonly kind: 'woken'; readonly gateway: string; readonly at: number }
  | { readonly kind: 'failed'; readonly why: string };

interface Answer {
  readonly head: number;
  readonly batch?: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, maxFreeSockets: 20_000 });
const nonce = 'A'.repeat(22);
const restMs = 2_000;

const tell = (heard: Heard): void => void process.send?.(heard);

process.once('disconnect', () => process.exit());
process.once('message', (crowd) => void come(crowd as Crowd));

async function come(crowd: Crowd): Promise<void> {
  invariant(process.send, 'begun by b13-waiting.ts');
  const { gateways, key, perSecond } = crowd;
  const edge = createPrivateKey({ key: Buffer.from(key, 'hex'), format: 'der', type: 'pkcs8' });
  const began = performance.now();
  for (const [place, gateway] of gateways.entries()) {
    const dueMs = (place * 1_000) / perSecond - (performance.now() - began);
    if (dueMs > 1) await pause(dueMs);
    void live(crowd, gateway, edge);
  }
}

async function live({ url, kinds }: Crowd, gateway: string, key: KeyObject): Promise<never> {
  let after = 0;
  for (;;) {
    const path = `/gateway/v1/feed?after=${after}&epoch=1&nonce=${nonce}&kinds=${kinds}&waitMs=${waitMsMax}&certificate=1`;
    try {
      const authorization = await transportToken(key, {
        gateway,
        method: 'GET',
        path,
        body: undefined,
        at: Date.now(),
      });
      const { head, batch } = await ask(url + path, authorization);
      if (batch !== undefined) tell({ kind: 'woken', gateway, at: performance.timeOrigin + performance.now() });
      after = head;
    } catch (error) {
      tell({ kind: 'failed', why: error instanceof Error ? error.message : String(error) });
      await pause(restMs);
    }
  }
}

function ask(url: string, authorization: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, headers: { authorization } }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(pieces).toString();
        if (response.statusCode === 200) resolve(JSON.parse(text) as Answer);
        else reject(new Error(`${response.statusCode} ${text.slice(0, 200)}`));
      });
    });
    request.on('error', reject);
  });
}
