/** Who can present what at the demonstration: read from its facility's own import file. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { bitAt } from '#protocol/wiegand/card-bits.ts';
import { encodeCard } from '#protocol/wiegand/encode-card.ts';
import { h10301 } from '#protocol/wiegand/standard-formats.ts';
import { demoFacilityDir } from './demo-home.ts';

export type Presentable = { readonly bits: string } | { readonly keys: string };

export interface Person {
  readonly id: string;
  readonly name: string;
  /** Bits of the card. */
  readonly card: string | undefined;
}

/** The parts of the file that matter here. */
const peopleSchema = z.object({
  holders: z.array(z.object({ id: z.string(), name: z.string() })),
  credentials: z.array(
    z.object({
      holder: z.string(),
      card: z.object({ facility: z.int(), number: z.int() }).optional(),
    }),
  ),
});

export function readPeople(): Person[] {
  const file = peopleSchema.parse(JSON.parse(readFileSync(join(demoFacilityDir, 'facility.json'), 'utf8')));
  return file.holders.map(({ id, name }) => {
    const card = file.credentials.find((credential) => credential.holder === id && credential.card)?.card;
    return { id, name, card: card && cardBits(card) };
  });
}

export function cardBits(numbers: { readonly facility: number; readonly number: number }): string | undefined {
  const card = encodeCard(h10301, numbers);
  return card && Array.from({ length: card.bitCount }, (_, at) => bitAt(card.bytes, at)).join('');
}

/** By id, or by the beginning of the id or of the name, if only one fits. */
export function findPerson(people: readonly Person[], word: string): Person | undefined {
  const wanted = word.toLowerCase();
  const exact = people.find(({ id }) => id === wanted);
  const fitting = people.filter(({ id, name }) => id.startsWith(wanted) || name.toLowerCase().startsWith(wanted));
  return exact ?? (fitting.length === 1 ? fitting[0] : undefined);
}

/** A PIN is 4–10 digits and ends with enter; card bits are at least 16 of 0 and 1. */
export function toPresent(word: string): Presentable | undefined {
  if (/^[01]{16,512}$/.test(word)) return { bits: word };
  return /^\d{4,10}$/.test(word) ? { keys: `${word}#` } : undefined;
}
