import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { settlePins } from '#cloud/credential/draw-pins.ts';
import { readFacilityKeys } from '#cloud/credential/facility-keys.ts';
import { issueBody } from '#cloud/credential/issue-body.ts';
import { type NewCredential, newCredentialOf } from '#cloud/credential/new-credential.ts';
import { createPinHasher, type PinHasher } from '#cloud/credential/pin-hasher.ts';
import { isOneSlipAway } from '#cloud/credential/pin-policy.ts';
import { tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { openRoom, type Room } from './open-room.ts';

let room: Room;
let holder: string;
beforeAll(async () => {
  room = await openRoom();
  holder = (await room.call<{ id: string }>('POST', '/holders', { name: 'Hanako' })).body.id;
});
afterAll(() => room.close());

async function issuePin(isDuress: boolean): Promise<string> {
  const body = { holder, pin: { digits: 6 }, isDuress };
  const reply = await room.call<{ secret: { pin: string } }>('POST', '/credentials', body);
  expect(reply.status).toBe(201);
  return reply.body.secret.pin;
}

/** What comes of these draws, where `isDuress` is wanted. */
function settle(draws: readonly string[], isDuress: boolean, pins: PinHasher = createPinHasher(), lookup = '') {
  const items = draws.map(
    (): NewCredential => newCredentialOf(issueBody.parse({ holder, pin: {}, isDuress }), '/body'),
  );
  return tenantTransaction(room.database.app, { actor: 'test', facilityIds: [room.facility] }, async (transaction) => {
    const keys = await readFacilityKeys(transaction, room.sealer, room.facility);
    const drawn = new Map(items.map((item, at) => [item, { pin: draws[at] ?? '', lookup }] as const));
    const desk = { facility: room.facility, keys, sealer: room.sealer, pins };
    const settled = await settlePins(transaction, desk, drawn);
    return 'status' in settled ? settled : [...settled.values()].map(({ pin }) => pin);
  });
}

const slipOf = (pin: string): string => pin.slice(0, -1) + String((Number(pin.at(-1)) + 1) % 10);

it('draws again where a PIN is somebody’s, or one of the same batch', async () => {
  const pin = await issuePin(false);
  const settled = await settle([pin, '402817', '402817'], false);
  if (!Array.isArray(settled)) throw new Error('refused');
  expect(settled[0]).not.toBe(pin);
  expect(settled[1]).toBe('402817');
  expect(settled[2]).not.toBe('402817');
});

it('draws again where a PIN was somebody’s until a while ago', async () => {
  const body = { holder, pin: { digits: 6 } };
  const reply = await room.call<{ item: { id: string }; secret: { pin: string } }>('POST', '/credentials', body);
  const { item, secret } = reply.body;
  expect((await room.call('POST', `/credentials/${item.id}/revoke`, {})).status).toBe(200);
  const found = await sql<{ lookup: string }>`select lookup from credential where id = ${item.id}`.execute(
    room.database.admin,
  );
  const settled = await settle([secret.pin], false, createPinHasher(), found.rows[0]?.lookup);
  expect(settled).toEqual([expect.not.stringMatching(secret.pin)]);
});

it('keeps a PIN one slip away from another, but none one slip away from a duress PIN', async () => {
  const [plain, duress] = [await issuePin(false), await issuePin(true)];
  expect(await settle([slipOf(plain)], false)).toEqual([slipOf(plain)]);
  const settled = await settle([slipOf(duress)], false);
  expect(Array.isArray(settled) && isOneSlipAway(settled[0] ?? '', duress)).toBe(false);
});

it('gives no duress PIN that is one slip away from anybody’s', async () => {
  const plain = await issuePin(false);
  const settled = await settle([slipOf(plain)], true);
  expect(Array.isArray(settled) && isOneSlipAway(settled[0] ?? '', plain)).toBe(false);
});

it('says so where there is no room to hash another', async () => {
  const plain = await issuePin(false);
  expect(await settle([plain], false, { hash: async () => undefined })).toEqual({
    status: 'refused',
    code: 'PIN_BUSY',
  });
});

it('takes as many PINs at once as it has room for, and refuses the rest at once', async () => {
  const hasher = createPinHasher(3);
  const salt = new Uint8Array(16);
  const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => hasher.hash(`408${at}`, salt)));
  expect(answers.map((answer) => answer?.length)).toEqual([32, 32, 32, 32, 32, undefined, undefined, undefined]);
  expect((await hasher.hash('4080', salt))?.length).toBe(32);
});
