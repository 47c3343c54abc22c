/**
 * Presents cards and PINs at a reader of the running demonstration, and hears from the gateway's own event stream what was
 * decided; whoever is let in walks through the door.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type ControlClient, connectControl } from '#gateway/control/edge-side.ts';
import type { EntryView } from '#gateway/control/entry-view.ts';
import type { FollowItem } from '#gateway/control/replies.ts';
import type { EntryKind } from '#gateway/journal/entry.ts';
import { siteSocketFile } from '#gateway/simulator/open-site.ts';
import { connectSite, type SiteClient } from '#gateway/simulator/site-client.ts';
import type { SiteDoor } from '#gateway/simulator/site-file.ts';
import { type Code, isCode } from '#shared/code.ts';
import type { DemoHome } from './demo-home.ts';
import { UsageProblem } from './demo-options.ts';
import { findPerson, type Presentable, readPeople, toPresent } from './demo-people.ts';
import { readPins } from './demo-set-up.ts';
import { readDemoSite } from './demo-site.ts';

const decidedWithinMs = 8_000;
const releasedWithinMs = 4_000;
/** Kinds that end the wait for one thing presented. */
const decisions: ReadonlySet<EntryKind> = new Set([
  'access.granted',
  'access.refused',
  'access.challenged',
  'access.refusals-counted',
]);
const outcomes: ReadonlySet<EntryKind> = new Set([
  'lock.released',
  'lock.refused',
  'lock.not-executed',
  'release.unknown',
]);

export interface Swipe {
  /** A door's id, or how it begins. */
  readonly door: string;
  /** A person, `person:pin`, bits of a card, or a PIN; one after the other. */
  readonly things: readonly string[];
  /** At the reader on the inside. */
  readonly isOut: boolean;
}

/** Told as it happens. */
export interface SwipeNews {
  readonly entry: (view: EntryView) => void;
  readonly refused: (code: Code) => void;
  /** Nothing was heard of what was presented there. */
  readonly silence: (reader: string) => void;
}

/** @returns whether everything was decided. @throws UsageProblem for what is not there, or where nothing runs. */
export async function swipe(home: DemoHome, asked: Swipe, news: SwipeNews): Promise<boolean> {
  const door = findDoor(asked.door);
  const reader = door.readers[asked.isOut ? 1 : 0];
  if (reader === undefined) throw new UsageProblem(`${door.id} has no reader on the inside`);
  const presented = asked.things.map((thing) => presentable(thing, home));
  const site = await connectSite(siteSocketFile(home.siteDir)).catch(notRunning);
  const gateway = await connectControl(home.adminSocket).catch(notRunning);
  try {
    const watch = followEntries(gateway, door.id, news.entry);
    for (const what of presented) {
      if (!(await presentOne({ site, watch, reader, door, what, news }))) return false;
    }
    return true;
  } finally {
    site.close();
    gateway.close();
  }
}

function notRunning(): never {
  throw new UsageProblem('The demonstration is not running here. Start it with npm start.');
}

function findDoor(name: string): SiteDoor {
  const { doors } = readDemoSite();
  const door = doors.find(({ id }) => id === name) ?? only(doors.filter(({ id }) => id.startsWith(name)));
  if (door === undefined) throw new UsageProblem(`no door '${name}'; doors: ${doors.map(({ id }) => id).join(', ')}`);
  return door;
}

const only = <Item>(items: readonly Item[]): Item | undefined => (items.length === 1 ? items[0] : undefined);

function presentable(thing: string, home: DemoHome): Presentable {
  const [name = '', secret] = thing.split(':');
  if (secret !== undefined) return { keys: `${drawnPin(home, name, secret)}#` };
  const direct = toPresent(thing);
  if (direct !== undefined) return direct;
  const people = readPeople();
  const person = findPerson(people, thing);
  if (person === undefined) {
    throw new UsageProblem(`no person '${thing}'; people: ${people.map(({ id }) => id).join(', ')}`);
  }
  if (person.card === undefined) throw new UsageProblem(`${person.id} has no card; type the PIN`);
  return { bits: person.card };
}

/** The cloud drew it when the demonstration was set up. */
function drawnPin(home: DemoHome, name: string, secret: string): string {
  const person = findPerson(readPeople(), name)?.id ?? name;
  const credential = `${person}-${secret === 'pin' ? 'pin' : `${secret}-pin`}`;
  const pins = readPins(home);
  const pin = pins[credential];
  if (pin === undefined) {
    const known = Object.keys(pins).map((each) =>
      each.replace(/-(duress-)?pin$/, (_, duress) => (duress ? ':duress' : ':pin')),
    );
    throw new UsageProblem(`no PIN '${name}:${secret}'; there are: ${known.join(', ')}`);
  }
  return pin;
}

interface Watch {
  /** Entries of the door since the last call of `mark`, in order. */
  readonly seen: () => readonly EntryView[];
  readonly mark: () => void;
}

function followEntries(gateway: ControlClient, door: string, onEntry: (view: EntryView) => void): Watch {
  let seen: EntryView[] = [];
  const onItem = (raw: unknown) => {
    const item = raw as FollowItem;
    if (item.kind !== 'entry' || item.view.entry.door !== door || item.view.entry.requestId === null) return;
    seen.push(item.view);
    onEntry(item.view);
  };
  gateway.call('follow', { newest: 0 }, { onItem }).catch(() => {});
  return {
    seen: () => seen,
    mark: () => {
      seen = [];
    },
  };
}

interface Presenting {
  readonly site: SiteClient;
  readonly watch: Watch;
  readonly reader: string;
  readonly door: SiteDoor;
  readonly what: Presentable;
  readonly news: SwipeNews;
}

/** @returns whether the gateway decided it. */
async function presentOne({ site, watch, reader, door, what, news }: Presenting): Promise<boolean> {
  watch.mark();
  await site.call('present', { reader, what });
  const decided = await firstOf(watch, decisions, decidedWithinMs);
  if (decided === undefined) {
    news.silence(reader);
    await site.call('leave', { door: door.id });
    return false;
  }
  if (decided.entry.kind === 'access.granted') await firstOf(watch, outcomes, releasedWithinMs);
  if (decided.entry.kind === 'access.refused') {
    await site.call('leave', { door: door.id });
    const code = String(decided.entry.body['code'] ?? '');
    if (isCode(code)) news.refused(code);
  }
  return true;
}

async function firstOf(watch: Watch, kinds: ReadonlySet<EntryKind>, withinMs: number): Promise<EntryView | undefined> {
  const end = performance.now() + withinMs;
  while (performance.now() < end) {
    const found = watch.seen().find(({ entry }) => kinds.has(entry.kind));
    if (found !== undefined) return found;
    await pause(10);
  }
  return undefined;
}
