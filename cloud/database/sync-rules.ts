/**
 * Writes the rules of the declared machines where the guard in the database reads them.
 *
 * Guarantees: afterwards the tables hold exactly what is declared, no transition more.
 */
import type pg from 'pg';
import type { AnyMachine } from '#shared/machine.ts';
import { transitionRules } from '#shared/machine-rules.ts';

export async function syncRules(client: pg.Client, machines: readonly AnyMachine[]): Promise<void> {
  const initial = machines.map((machine) => ({ machine: machine.name, initial_state: machine.initial }));
  const rules = machines.flatMap(transitionRules);
  await client.query('begin');
  try {
    await client.query('set local role kannuki_migrator');
    await client.query(
      `insert into state_machine select machine, initial_state from jsonb_to_recordset($1)
         as declared(machine text, initial_state text)
       on conflict (machine) do update set initial_state = excluded.initial_state`,
      [JSON.stringify(initial)],
    );
    await client.query(
      `delete from state_transition_rule kept where not exists (
         select from jsonb_to_recordset($1) as declared(machine text, event text, from_state text, to_state text)
         where (declared.machine, declared.event, declared.from_state, declared.to_state)
             = (kept.machine, kept.event, kept.from_state, kept.to_state))`,
      [JSON.stringify(rules)],
    );
    await client.query(
      `insert into state_transition_rule select machine, event, from_state, to_state from jsonb_to_recordset($1)
         as declared(machine text, event text, from_state text, to_state text)
       on conflict do nothing`,
      [JSON.stringify(rules)],
    );
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined); // The first error says more.
    throw error;
  }
}
