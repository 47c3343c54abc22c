/** A facility with something of everything in it, all of it bearing one word, so that a walk over every route meets real rows. */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { newId } from '#cloud/database/new-id.ts';
import type { Person, TestCloud } from './test-cloud.ts';

export async function furnish({ call, database }: TestCloud, person: Person, word: string): Promise<void> {
  const base = `/v1/facilities/${person.facility}`;
  const make = async (path: string, body: object): Promise<string> => {
    const answer = await call({ as: person.token, url: `${base}${path}`, body });
    if (answer.status !== 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
    return answer.body.id ?? answer.body.items?.[0]?.id ?? answer.body.item?.id;
  };
  const name = `${word} one`;
  const weekly = [{ days: ['mon'], from: '08:00', until: '18:00' }];
  const schedule = await make('/schedules', { name, weekly });
  await make('/holidays', { name, date: '2027-01-01' });
  const door = await make('/doors', { name, lock: { device: 'lock-1', output: 0 } });
  await make('/readers', { name, door, device: 'reader-1' });
  const group = await make('/door-groups', { name, doors: [door] });
  const holder = await make('/holders', { name, email: `${word}@example.test` });
  await make('/credentials', { holder, pin: {}, grants: [{ door, schedule }, { group }] });
  await make('/invitations', { email: `${word}-guest@example.test`, role: 'staff' });
  await make('/tokens', { name, actions: ['view_journal'] });
  await make('/enrolment-codes', { name });
  await furnishGateway(database.admin, { facility: person.facility, door, word });
}

interface Place {
  readonly facility: string;
  readonly door: string;
  readonly word: string;
}

/** What only a machine can bring: written by the superuser, under the guard like everything else. */
async function furnishGateway(admin: TestCloud['database']['admin'], { facility, door, word }: Place): Promise<void> {
  const [gateway, command] = [newId('gwy') as string, newId('cmd') as string];
  const key = () => randomBytes(32);
  await admin.transaction().execute(async (transaction) => {
    await sql`select set_config('app.verb', 'test', true), set_config('app.actor', 'test', true)`.execute(transaction);
    const owned = { facility_id: facility, gateway_id: gateway };
    await transaction
      .insertInto('gateway')
      .values({
        facility_id: facility,
        id: gateway,
        name: word,
        door_sign_key: key(),
        door_seal_key: key(),
        edge_key: key(),
        door_fingerprint: key().toString('hex'),
        hardware: word,
      })
      .execute();
    await transaction
      .insertInto('door_binding')
      .values({ ...owned, door_id: door })
      .execute();
    await transaction
      .insertInto('gateway_alarm')
      .values({ ...owned, code: 'DURESS', subject: word })
      .execute();
    await transaction
      .insertInto('gateway_command')
      .values({
        ...owned,
        id: command,
        act: JSON.stringify({ kind: 'release', door, word }),
        requested_by: word,
        lifetime_ms: 30_000,
      })
      .execute();
    await transaction
      .insertInto('journal_entry')
      .values({
        ...owned,
        epoch: 1,
        seq: 1,
        boot_id: word,
        at: new Date(),
        clock_state: 'trusted',
        kind: 'access.decided',
        door_id: door,
        body: JSON.stringify({ word }),
        prev_hash: key(),
        hash: key(),
      })
      .execute();
  });
}
