/**
 * The bytes of an import file as text: UTF-8, or refused with the line on which it is not.
 *
 * Pure. Another encoding would not fail but come out as other names, so that one wrong byte refuses the file.
 */
import type { SourceFile } from './source-record.ts';

const lineFeed = 10;

export function decodeSource({ name, bytes }: { readonly name: string; readonly bytes: Uint8Array }): SourceFile {
  const mark = (bytes[0] ?? 0) * 256 + (bytes[1] ?? 0);
  if (mark === 0xfffe || mark === 0xfeff)
    return { name, text: '', encodingFault: { line: 1, rule: 'is UTF-16; save it as UTF-8' } };
  const text = decode(bytes);
  if (text !== undefined) return { name, text };
  const rule = 'holds bytes that are not UTF-8 (Shift-JIS, perhaps); save the file as UTF-8';
  return { name, text: '', encodingFault: { line: firstWrongLine(bytes), rule } };
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** No character of several bytes holds a line feed, so that each line is right or wrong by itself. */
function firstWrongLine(bytes: Uint8Array): number {
  let line = 1;
  for (let from = 0; from < bytes.length; line += 1) {
    const feed = bytes.indexOf(lineFeed, from);
    const end = feed < 0 ? bytes.length : feed + 1;
    if (decode(bytes.subarray(from, end)) === undefined) return line;
    from = end;
  }
  return line;
}
