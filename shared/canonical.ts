/**
 * One byte string for one value: JSON with sorted keys, no white space, integers only.
 *
 * What is hashed or signed goes through here, so that two programs agree on the bytes.
 * The subset of RFC 8785 (JSON Canonicalization Scheme) in which no number needs rounding.
 * Not promised: values with fractions, NaN, dates, bigints, `undefined` in arrays; they throw, for they are bugs.
 */
import { invariant } from './invariant.ts';

export type CanonicalValue =
  | string
  | number
  | boolean
  | null
  | readonly CanonicalValue[]
  | { readonly [key: string]: CanonicalValue | undefined };

/** @returns UTF-8 text; keys whose value is `undefined` are left out. */
export function canonicalText(value: CanonicalValue): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') {
    invariant(Number.isSafeInteger(value), `canonical numbers are safe integers, got ${value}`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  return objectText(value as { readonly [key: string]: CanonicalValue | undefined });
}

function objectText(value: { readonly [key: string]: CanonicalValue | undefined }): string {
  const members: string[] = [];
  for (const key of Object.keys(value).sort()) {
    const member = value[key];
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalText(member)}`);
  }
  return `{${members.join(',')}}`;
}
