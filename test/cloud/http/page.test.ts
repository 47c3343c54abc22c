import { randomBytes } from 'node:crypto';
import { afterAll, expect, it } from 'vitest';
import { openTestCloud } from './test-cloud.ts';

const cloud = await openTestCloud();
afterAll(() => cloud.close());
const { call } = cloud;

it('walks a list page by page to its end, each item once', async () => {
  const owner = await cloud.owner('paul');
  const url = `/v1/facilities/${owner.facility}/invitations`;
  const made: string[] = [];
  for (let index = 0; index < 7; index += 1) {
    const { body } = await call({ as: owner.token, url, body: { email: `p${index}@example.test`, role: 'staff' } });
    made.push(body.id);
  }
  const seen: string[] = [];
  let next: string | undefined;
  do {
    const page = await call({ as: owner.token, url: `${url}?limit=3${next === undefined ? '' : `&cursor=${next}`}` });
    expect(page.body.items.length).toBeLessThanOrEqual(3);
    seen.push(...page.body.items.map((item: { id: string }) => item.id));
    next = page.body.next;
  } while (next !== undefined);
  expect(seen).toEqual([...made].sort());
});

it('refuses a cursor that was changed, made up, or given out for another list', async () => {
  const [mine, theirs] = [await cloud.owner('pia'), await cloud.owner('pedro')];
  const listOf = (facility: string) => `/v1/facilities/${facility}/invitations`;
  for (const owner of [mine, theirs]) {
    for (const name of ['a', 'b'] as const) {
      const body = { email: `${name}.${owner.user}@example.test`.toLowerCase(), role: 'staff' };
      expect((await call({ as: owner.token, url: listOf(owner.facility), body })).status).toBe(201);
    }
  }
  const { body } = await call({ as: theirs.token, url: `${listOf(theirs.facility)}?limit=1` });
  const flipped = body.next.slice(0, -2) + (body.next.endsWith('A') ? 'BB' : 'AA');
  const invented = Buffer.from(`${'0'.repeat(24)}inv_0`).toString('base64url');
  for (const cursor of [body.next, flipped, invented, 'x', randomBytes(40).toString('base64url')]) {
    const refused = await call({ as: mine.token, url: `${listOf(mine.facility)}?cursor=${cursor}` });
    expect(refused).toMatchObject({ status: 400, body: { code: 'CURSOR_INVALID' } });
  }
});

it('bounds the size of a page', async () => {
  const owner = await cloud.owner('petra');
  for (const limit of ['0', '501', 'many', '1.5', '']) {
    const refused = await call({ as: owner.token, url: `/v1/facilities?limit=${limit}` });
    expect(refused.status, limit).toBe(422);
  }
});
