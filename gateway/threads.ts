import { setFlagsFromString } from 'node:v8';

/** Where the worker threads' code is: beside this file as source, beside the program in a bundle. */
export interface Threads {
  readonly journal: URL;
  readonly replica: URL;
  readonly pins: URL;
  readonly verify: URL;
  readonly check: URL;
}

const isSource = import.meta.url.endsWith('.ts');
// Every thread strips its types, and V8 does not bear that at once in all of them; see docs/decisions/0003.
if (isSource) setFlagsFromString('--wasm-wrapper-tiering-budget=1000000000');
const place = (folder: string, name: string): URL =>
  new URL(isSource ? `./${folder}/${name}.ts` : `./${name}.js`, import.meta.url);

export const ownThreads: Threads = {
  journal: place('journal', 'journal-thread'),
  replica: place('replica', 'replica-thread'),
  pins: place('replica', 'pin-thread'),
  verify: place('operate', 'verify-thread'),
  check: place('store', 'check-thread'),
};
