/** A device's key from a file: for sites that bring their own keys. Only its owner may read it. */
import { readFileSync, statSync } from 'node:fs';

/** 16 bytes, as 32 hexadecimal digits; or why there are none. */
export type KeyFileReading = { readonly key: Uint8Array } | { readonly fault: string };

const keyPattern = /^[0-9a-fA-F]{32}$/;

export function readKeyFile(path: string): KeyFileReading {
  try {
    const mode = statSync(path).mode & 0o777;
    if ((mode & 0o077) !== 0) return { fault: `${path} can be read by others (mode ${mode.toString(8)})` };
    const text = readFileSync(path, 'utf8').trim();
    return keyPattern.test(text)
      ? { key: Buffer.from(text, 'hex') }
      : { fault: `${path} must hold 32 hexadecimal digits` };
  } catch (error) {
    return { fault: `${path} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}` };
  }
}
