/**
 * Keeps what the engine compiled from one start to the next, in the folder `compiled` beside the bundled program.
 *
 * What is kept there is run as it is, so it is used only from a folder of this very user that nobody else may enter;
 * otherwise (a program installed by another user, a read-only disk, something else in its place) there is none, and a
 * start takes longer. Where `NODE_COMPILE_CACHE` names a folder, that counts, and who sets it answers for it.
 * Not promised: that whoever holds the disk in hand changes nothing there; they could change the program as well.
 */
import { lstatSync, mkdirSync } from 'node:fs';
import { enableCompileCache, flushCompileCache, getCompileCacheDir } from 'node:module';
import { env, getuid } from 'node:process';
import { fileURLToPath } from 'node:url';

/** Called before anything large is loaded. */
export function useCompileCache(): void {
  const isBundled = import.meta.url.endsWith('.js');
  if (!isBundled || getCompileCacheDir() !== undefined) return;
  const folder = fileURLToPath(new URL('./compiled', import.meta.url));
  if (!isOurs(folder)) return;
  enableCompileCache(folder);
  // Threads take it from here.
  env['NODE_COMPILE_CACHE'] = folder;
}

/** Writes what was compiled since. */
export function keepCompileCache(): void {
  if (getCompileCacheDir() !== undefined) flushCompileCache();
}

/** Makes the folder if it may. Not through a link: that would be a folder chosen by somebody else. */
export function isOurs(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch {
    // It is there already, or cannot be made: what counts is what stands there now.
  }
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === getuid?.() && (found.mode & 0o077) === 0;
}
