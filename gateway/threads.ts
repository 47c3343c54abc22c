/** Where the worker threads' code is: beside this file as source; a bundle hands over its own places. */
export interface Threads {
  readonly journal: URL;
  readonly replica: URL;
  readonly pins: URL;
  readonly verify: URL;
}

export const sourceThreads: Threads = {
  journal: new URL('./journal/journal-thread.ts', import.meta.url),
  replica: new URL('./replica/replica-thread.ts', import.meta.url),
  pins: new URL('./replica/pin-thread.ts', import.meta.url),
  verify: new URL('./operate/verify-thread.ts', import.meta.url),
};
