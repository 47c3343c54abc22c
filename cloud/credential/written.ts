/**
 * What writing a thing without states answers: a door, a holder, a schedule. Refusals are values, as everywhere.
 *
 * `stale`: somebody else wrote it meanwhile · `absent`: there is no such thing here, or it is another tenant's.
 */
import { type Answer, created, ok, refusal } from '#cloud/http/answer.ts';
import type { Code } from '#shared/code.ts';
import type { MessageKey } from '#shared/message-key.ts';

export interface RefusedWrite {
  readonly status: 'refused';
  readonly code: Code;
  /** The field it is about, as it stands in the request, e.g. `/body/grants/0/door`. */
  readonly field?: { readonly path: string; readonly key: MessageKey };
}

export type Written =
  | { readonly status: 'written'; readonly id: string }
  | { readonly status: 'stale' }
  | { readonly status: 'absent' }
  | RefusedWrite;

export const refusedAt = (code: Code, path: string, key: MessageKey): RefusedWrite => ({
  status: 'refused',
  code,
  field: { path, key },
});

export const refusedField = ({ code, field }: RefusedWrite): Answer =>
  refusal(code, field === undefined ? {} : { fields: [field] });

/** @param readItem the thing as it is now. @param isNew answers 201 where it was written. */
export async function writtenAnswer(
  written: Written,
  readItem: (id: string | undefined) => Promise<unknown>,
  isNew = false,
): Promise<Answer> {
  switch (written.status) {
    case 'written': {
      const item = await readItem(written.id);
      return isNew ? created(item) : ok(item);
    }
    case 'stale':
      return refusal('VERSION_STALE', { current: await readItem(undefined) });
    case 'absent':
      return refusal('NOT_FOUND');
    case 'refused':
      return refusedField(written);
  }
}
