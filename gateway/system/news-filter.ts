/** Tells what is new from what was said already: the same news again is news only after a while. */
import { elapsedMs, type MonoMs } from '#shared/instant.ts';

/** @param againMs when news that has not changed may be said once more. */
export function newsFilter(now: () => MonoMs, againMs: number): (news: string) => boolean {
  let last: { readonly news: string; readonly at: MonoMs } | undefined;
  return (news) => {
    const at = now();
    if (last?.news === news && elapsedMs(last.at, at) < againMs) return false;
    last = { news, at };
    return true;
  };
}
