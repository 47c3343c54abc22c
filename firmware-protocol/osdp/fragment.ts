/**
 * The head of a message that is too long for one frame: whole length u16, offset u16, fragment length u16, fragment.
 * An offset at or past the whole length with an empty fragment says that the sender gave up.
 */
import { readU16, u16 } from './little-endian.ts';
import { type Malformed, type MessageCodec, wrongLength, wrongValue } from './message-codec.ts';

export interface Fragment {
  /** Whole length, bytes. */
  readonly total: number;
  /** Where this fragment begins, bytes. */
  readonly offset: number;
  readonly fragment: Uint8Array;
}

const headLength = 6;

/** The codec of a message that consists of a fragment and nothing else. */
export function fragmentMessage<Kind extends string>(
  kind: Kind,
  code: number,
): MessageCodec<Fragment & { readonly kind: Kind }> {
  return {
    kind,
    code,
    encode: ({ total, offset, fragment }) =>
      Uint8Array.from([
        ...u16(total, 'whole length'),
        ...u16(offset, 'offset'),
        ...u16(fragment.length, 'fragment'),
        ...fragment,
      ]),
    decode: (data) => {
      const read = readFragment(code, data);
      return 'kind' in read ? read : { kind, ...read };
    },
  };
}

function readFragment(code: number, data: Uint8Array): Fragment | Malformed {
  if (data.length < headLength) return wrongLength(code, data.length, `at least ${headLength}`);
  const total = readU16(data, 0);
  const offset = readU16(data, 2);
  const length = readU16(data, 4);
  if (data.length !== headLength + length) {
    return wrongLength(code, data.length, `${headLength} and a fragment of ${length}`);
  }
  if (length > 0 && offset + length > total) return wrongValue(code, 'the fragment reaches past the whole length');
  return { total, offset, fragment: data.slice(headLength) };
}
