import { describe, expect, it } from 'vitest';
import { lockFactOf, modeOf } from '#gateway/door/door-state.ts';
import { nextDeadline, standingSignal } from '#gateway/door/door-status.ts';
import { DoorBench, ioDevice } from './door-bench.ts';

const closed = 'inactive';
const opened = 'active';
const unlockable = { kind: 'output', isActive: true } as const;
const locked = { kind: 'output', isActive: false } as const;
const up = { kind: 'device', device: ioDevice, isUp: true } as const;
const down = { kind: 'device', device: ioDevice, isUp: false } as const;

/** Granted, acknowledged, opened. */
function openedBy(id: string, bench = DoorBench.shut()): DoorBench {
  bench.grant(id);
  bench.done(id);
  bench.pass(1_000);
  bench.contact(opened);
  return bench;
}

describe('a normal entry', () => {
  it('reads released, opened, closed, secured under one request id', () => {
    const bench = openedBy('r-1');
    bench.doneAll();
    bench.pass(3_000);
    bench.contact(closed);
    expect(bench.story).toEqual(['lock.released r-1', 'door.opened r-1', 'door.closed r-1', 'lock.secured r-1']);
    expect(bench.status).toBe('secured');
    expect(nextDeadline(bench.state)).toBeUndefined();
  });

  it('reads the same without relock on open, ended by the device’s own timer', () => {
    const bench = openedBy('r-1', DoorBench.shut({ relockOnOpen: false }));
    bench.contact(closed);
    expect(bench.status).toBe('released');
    bench.pass(4_000);
    expect(bench.status).toBe('securing');
    bench.take(locked);
    expect(bench.story).toEqual(['lock.released r-1', 'door.opened r-1', 'door.closed r-1', 'lock.secured r-1']);
  });

  it('goes releasing, released, open, secured', () => {
    const bench = DoorBench.shut();
    expect(bench.grant('r-1')).toEqual(['release r-1 5000']);
    expect(bench.status).toBe('releasing');
    bench.done('r-1');
    expect(bench.status).toBe('released');
    bench.contact(opened);
    expect(bench.status).toBe('open');
    bench.doneAll();
    bench.contact(closed);
    expect(bench.status).toBe('secured');
  });

  it('sees the holder through when the door opens', () => {
    const bench = DoorBench.shut();
    bench.grant('r-1');
    expect(bench.done('r-1')).not.toContain('passed r-1');
    expect(bench.contact(opened)).toContain('passed r-1');
  });

  it('that nobody walks through ends secured, and nobody has passed', () => {
    const bench = DoorBench.shut();
    bench.grant('r-1');
    bench.done('r-1');
    bench.pass(5_000);
    bench.take(locked);
    expect(bench.story).toEqual(['lock.released r-1', 'lock.secured r-1']);
    bench.pass(60_000);
    expect(bench.effects.some((effect) => effect.kind === 'passed')).toBe(false);
  });

  it('is told to secure when no report says that the timer has ended', () => {
    const bench = DoorBench.shut();
    bench.grant('r-1');
    bench.done('r-1');
    expect(bench.pass(5_999)).toEqual([]);
    expect(bench.pass(1)).toEqual(['secure own.1']);
    expect(bench.done('own.1')).toEqual(['lock.secured r-1']);
  });

  it('is told to secure at once where the device has no timer', () => {
    const bench = DoorBench.shut({}, { hasDeviceTimer: false });
    bench.grant('r-1');
    bench.done('r-1');
    expect(bench.pass(5_000)).toEqual(['secure own.1']);
  });

  it('uses the longer times of a holder who needs them', () => {
    const bench = DoorBench.shut();
    expect(bench.grant('r-1', { releaseMs: 15_000, heldMs: 60_000 })).toEqual(['release r-1 15000']);
    bench.done('r-1');
    bench.contact(opened);
    expect(bench.pass(59_000)).not.toContain('raise DOOR_HELD');
    expect(bench.pass(1_000)).toContain('raise DOOR_HELD');
  });

  it('works on a maglock, whose power secures', () => {
    const bench = DoorBench.shut({ lock: { device: ioDevice, output: 0, release: 'de-energise' } });
    expect(bench.status).toBe('secured');
    bench.grant('r-1');
    bench.done('r-1');
    bench.pass(5_000);
    bench.take({ kind: 'output', isActive: true });
    expect(bench.status).toBe('secured');
  });
});

describe('a release', () => {
  it('happens once per request', () => {
    const bench = DoorBench.shut();
    bench.grant('r-1');
    expect(bench.grant('r-1')).toEqual([]);
    bench.done('r-1');
    expect(bench.grant('r-1')).toEqual([]);
    expect(bench.command('r-1', { kind: 'release' })).toEqual(['answer already-so']);
  });

  it('that the lock refused is said, and the lock is put back where it belongs', () => {
    const bench = DoorBench.shut();
    bench.grant('r-1');
    expect(bench.result('r-1', { kind: 'refused', reason: 'jammed' })).toEqual(['lock.refused r-1', 'secure own.1']);
    bench.done('own.1');
    expect(bench.status).toBe('secured');
  });

  it('that was not executed is said, and excuses no opening', () => {
    const bench = DoorBench.shut();
    bench.grant('r-1');
    expect(bench.result('r-1', { kind: 'not-executed', reason: 'expired' })).toContain('lock.not-executed r-1');
    bench.doneAll();
    expect(bench.contact(opened)).toContain('raise DOOR_FORCED');
  });

  it('of which nobody knows is unknown until the lock is secured again, and may have opened', () => {
    const bench = DoorBench.shut();
    bench.grant('r-1');
    expect(bench.result('r-1', { kind: 'unknown' })).toEqual(['release.unknown r-1', 'door.state-changed -']);
    expect(bench.status).toBe('unknown');
    expect(bench.state.status.lastKnown?.kind).toBe('releasing');
    expect(bench.pass(6_000)).toEqual(['secure own.1', 'door.state-changed -']);
    expect(bench.done('own.1')).toEqual(['lock.secured r-1']);
    const used = DoorBench.shut();
    used.grant('r-2');
    used.result('r-2', { kind: 'unknown' });
    expect(used.contact(opened)).toEqual(['door.opened r-2', 'passed r-2', 'door.state-changed -']);
  });

  it('that nobody answers in ten seconds counts as unknown, and a later answer changes nothing', () => {
    const bench = DoorBench.shut();
    bench.grant('r-1');
    expect(bench.pass(10_000)).toContain('release.unknown r-1');
    expect(bench.done('r-1')).toEqual([]);
    expect(bench.status).toBe('unknown');
  });

  it('that overtakes another keeps both stories', () => {
    const bench = DoorBench.shut();
    bench.grant('r-1');
    bench.grant('r-2');
    expect(bench.done('r-1')).toEqual(['lock.released r-1']);
    expect(bench.done('r-2')).toEqual(['lock.released r-2']);
    expect(bench.contact(opened)).toEqual(['door.opened r-2', 'passed r-1', 'passed r-2', 'secure own.1']);
  });

  it('is refused as busy when too many wait', () => {
    const bench = DoorBench.shut();
    for (let index = 0; index < 8; index += 1) bench.grant(`r-${index}`);
    expect(bench.grant('r-8')).toEqual(['lock.not-executed r-8']);
  });

  it('is not sent to a lock that went away between decision and commit, nor when it returns', () => {
    const bench = DoorBench.shut();
    bench.take(down);
    expect(bench.grant('r-1')).toEqual(['lock.not-executed r-1']);
    bench.take(up);
    bench.take({ kind: 'contact', level: closed });
    bench.take(locked);
    bench.pass(60_000);
    expect(bench.effects.some((effect) => effect.kind === 'release')).toBe(false);
  });
});

describe('a door that opens', () => {
  it('without a release is forced, until it closes', () => {
    const bench = DoorBench.shut();
    expect(bench.contact(opened)).toEqual(['door.opened -', 'raise DOOR_FORCED']);
    expect(bench.status).toBe('forced');
    expect(bench.contact(closed)).toEqual(['door.closed -', 'clear DOOR_FORCED']);
    expect(bench.status).toBe('secured');
  });

  it('stays forced although somebody is granted meanwhile', () => {
    const bench = DoorBench.shut();
    bench.contact(opened);
    bench.grant('r-1');
    expect(bench.status).toBe('forced');
  });

  it('bounces without a word', () => {
    const bench = DoorBench.shut({ debounceMs: 50 });
    bench.take({ kind: 'contact', level: opened });
    bench.pass(30);
    bench.take({ kind: 'contact', level: closed });
    expect(bench.pass(1_000)).toEqual([]);
    expect(bench.status).toBe('secured');
  });

  it('is believed at once without debouncing', () => {
    const bench = DoorBench.shut({ debounceMs: 0 });
    expect(bench.take({ kind: 'contact', level: opened })).toContain('raise DOOR_FORCED');
  });

  it('in the last moment of its release is not forced though believed later', () => {
    const bench = DoorBench.shut({ debounceMs: 3_000 });
    bench.grant('r-1');
    bench.done('r-1');
    bench.pass(4_999);
    bench.take({ kind: 'contact', level: opened });
    expect(bench.pass(3_000)).toContain('door.opened r-1');
  });

  it('may spring back from its frame once more, but not later', () => {
    const bench = openedBy('r-1');
    bench.doneAll();
    bench.contact(closed);
    bench.pass(500);
    expect(bench.contact(opened)).toContain('door.opened r-1');
    bench.contact(closed);
    bench.pass(2_000);
    expect(bench.contact(opened)).toContain('raise DOOR_FORCED');
  });

  it('relocks behind it, and an operator may hold it released by setting', () => {
    expect(openedBy('r-1').awaited).toEqual(['own.1']);
    expect(openedBy('r-1', DoorBench.shut({ relockOnOpen: false })).awaited).toEqual([]);
  });
});

describe('a door held open', () => {
  it('warns first, then alarms, and is quiet when closed', () => {
    const bench = openedBy('r-1');
    bench.doneAll();
    expect(bench.pass(20_000)).toEqual(['show held-warning']);
    expect(bench.status).toBe('open');
    expect(bench.pass(10_000)).toEqual(['raise DOOR_HELD']);
    expect(bench.status).toBe('held');
    expect(bench.contact(closed)).toEqual(['door.closed r-1', 'clear DOOR_HELD', 'show idle', 'lock.secured r-1']);
  });

  it('gets its time anew with another grant', () => {
    const bench = openedBy('r-1');
    bench.doneAll();
    bench.pass(30_000);
    expect(bench.grant('r-2')).toEqual(['clear DOOR_HELD', 'show idle', 'release r-2 5000']);
    expect(bench.status).toBe('open');
    expect(bench.done('r-2')).toEqual(['lock.released r-2', 'passed r-2']);
  });

  it('does not warn where no warning is set', () => {
    const bench = openedBy('r-1', DoorBench.shut({ heldWarningMs: 0 }));
    bench.doneAll();
    expect(bench.pass(30_000)).toEqual(['raise DOOR_HELD']);
  });
});

describe('the exit button', () => {
  it('excuses an opening and releases nothing', () => {
    const bench = DoorBench.shut();
    expect(bench.take({ kind: 'rex', level: 'active' })).toEqual(['exit.requested -']);
    bench.take({ kind: 'rex', level: 'inactive' });
    bench.pass(4_000);
    expect(bench.contact(opened)).toEqual(['door.opened -']);
    expect(bench.status).toBe('open');
  });

  it('excuses for as long as it is pressed, and no longer than the strike time after', () => {
    const bench = DoorBench.shut();
    bench.take({ kind: 'rex', level: 'active' });
    bench.pass(60_000);
    expect(bench.contact(opened)).toEqual(['door.opened -']);
    bench.contact(closed);
    bench.take({ kind: 'rex', level: 'inactive' });
    bench.pass(5_001);
    expect(bench.contact(opened)).toContain('raise DOOR_FORCED');
  });

  it('releases only where it is set to', () => {
    const bench = DoorBench.shut({ rexReleases: true });
    expect(bench.take({ kind: 'rex', level: 'active' })).toEqual(['exit.requested own.1', 'release own.1 5000']);
    expect(bench.take({ kind: 'rex', level: 'active' })).toEqual([]);
  });

  it('does not release in lockdown', () => {
    const bench = DoorBench.shut({ rexReleases: true });
    bench.command('m-1', { kind: 'mode', mode: 'lockdown' });
    expect(bench.take({ kind: 'rex', level: 'active' })).toEqual(['exit.requested -']);
  });
});

describe('fire', () => {
  const burning = (bench = DoorBench.shut()): DoorBench => {
    bench.take({ kind: 'fire', level: 'active' });
    return bench;
  };

  it('is recorded and shown', () => {
    const bench = DoorBench.shut();
    expect(bench.take({ kind: 'fire', level: 'active' })).toEqual(['raise FIRE', 'door.mode-changed -', 'show idle']);
    expect(modeOf(bench.state.mode)).toBe('fire');
  });

  it('stops every command until it clears', () => {
    const bench = burning();
    expect(bench.grant('r-1')).toEqual(['lock.not-executed r-1']);
    expect(bench.command('c-1', { kind: 'release' })).toEqual(['command.refused c-1', 'answer FIRE_ACTIVE']);
    expect(bench.command('c-2', { kind: 'secure' })).toEqual(['command.refused c-2', 'answer FIRE_ACTIVE']);
    expect(bench.command('c-3', { kind: 'mode', mode: 'lockdown' })).toEqual([
      'command.refused c-3',
      'answer FIRE_ACTIVE',
    ]);
  });

  it('that unlocks is not fought, and not called forcing', () => {
    const bench = burning();
    bench.take(unlockable);
    expect(bench.contact(opened)).toEqual(['door.opened -']);
    expect(bench.pass(3_600_000)).toEqual([]);
    expect(bench.status).toBe('open');
  });

  it('reported a moment after the unlock is not fought either', () => {
    const bench = DoorBench.shut();
    expect(bench.take(unlockable)).toEqual([]);
    bench.pass(900);
    bench.take({ kind: 'fire', level: 'active' });
    expect(bench.pass(60_000)).toEqual([]);
  });

  it('that clears lets the lock be secured again, once', () => {
    const bench = burning();
    bench.take(unlockable);
    bench.pass(60_000);
    expect(bench.take({ kind: 'fire', level: 'inactive' })).toEqual([
      'clear FIRE',
      'door.mode-changed -',
      'show idle',
      'secure own.1',
    ]);
    expect(bench.done('own.1')).toEqual(['lock.secured own.1']);
  });

  it('leaves a lockdown in force when it clears', () => {
    const bench = DoorBench.shut();
    bench.command('m-1', { kind: 'mode', mode: 'lockdown' });
    burning(bench);
    bench.take({ kind: 'fire', level: 'inactive' });
    expect(modeOf(bench.state.mode)).toBe('lockdown');
  });

  it('on a loop that is cut is tampering, neither an alarm of fire nor its end', () => {
    const bench = DoorBench.shut();
    expect(bench.take({ kind: 'fire', level: 'cut' })).toEqual(['raise DEVICE_INPUT_FAULT']);
    expect(modeOf(bench.state.mode)).toBe('controlled');
    expect(bench.take({ kind: 'fire', level: 'inactive' })).toEqual(['clear DEVICE_INPUT_FAULT']);
  });
});

describe('lockdown', () => {
  it('secures what is free or released', () => {
    const bench = DoorBench.shut();
    bench.grant('r-1');
    bench.done('r-1');
    expect(bench.command('m-1', { kind: 'mode', mode: 'lockdown' })).toContain('secure own.1');
  });

  it('overtakes a release that is on its way', () => {
    const bench = DoorBench.shut();
    bench.grant('r-1');
    expect(bench.command('m-1', { kind: 'mode', mode: 'lockdown' })).toContain('secure own.1');
    bench.done('r-1');
    expect(bench.status).toBe('securing');
    expect(bench.done('own.1')).toEqual(['lock.secured r-1']);
  });

  it('overtakes a grant that was decided before it', () => {
    const bench = DoorBench.shut();
    bench.command('m-1', { kind: 'mode', mode: 'lockdown' });
    expect(bench.grant('r-1')).toEqual(['lock.not-executed r-1']);
    expect(bench.command('c-1', { kind: 'release' })).toContain('answer DOOR_LOCKED_DOWN');
  });

  it('lets those through who may override it', () => {
    const bench = DoorBench.shut();
    bench.command('m-1', { kind: 'mode', mode: 'lockdown' });
    expect(bench.grant('r-1', { flags: ['lockdown_override'] })).toEqual(['release r-1 5000']);
    bench.done('r-1');
    expect(bench.awaited).toEqual([]);
    bench.pass(4_999);
    expect(bench.status).toBe('released');
  });
});

describe('a free door', () => {
  const free = (bench = DoorBench.shut()): DoorBench => {
    bench.command('m-1', { kind: 'mode', mode: 'free' });
    bench.doneAll();
    return bench;
  };

  it('is freed once, and says what has to outlive a restart', () => {
    const bench = DoorBench.shut();
    expect(bench.command('m-1', { kind: 'mode', mode: 'free' })).toEqual([
      'door.mode-changed m-1',
      'show free',
      'answer accepted',
      'free own.1',
    ]);
    bench.done('own.1');
    expect(bench.status).toBe('released');
    const said = bench.effects.find((effect) => effect.kind === 'journal');
    expect(said).toMatchObject({ state: { kind: 'mode', key: 'front', value: 'free' } });
    expect(bench.pass(3_600_000)).toEqual([]);
  });

  it('is neither forced nor held', () => {
    const bench = free();
    expect(bench.contact(opened)).toEqual(['door.opened -']);
    expect(bench.pass(3_600_000)).toEqual([]);
  });

  it('lets a grant through without a command', () => {
    const bench = free();
    expect(bench.grant('r-1')).toEqual(['lock.released r-1']);
    expect(bench.contact(opened)).toEqual(['door.opened r-1', 'passed r-1']);
  });

  it('begins to count held when it ceases to be free', () => {
    const bench = free();
    bench.contact(opened);
    bench.command('m-2', { kind: 'mode', mode: 'controlled' });
    bench.doneAll();
    expect(bench.pass(30_000)).toContain('raise DOOR_HELD');
  });

  it('follows its schedule, and a person who secures it ends the day’s freedom only', () => {
    const bench = DoorBench.shut();
    bench.take({ kind: 'free-schedule', isInside: true });
    bench.doneAll();
    expect(bench.status).toBe('released');
    expect(bench.command('c-1', { kind: 'secure' })).toContain('secure c-1');
    expect(bench.done('c-1')).toEqual(['lock.secured c-1']);
    bench.take({ kind: 'free-schedule', isInside: false });
    expect(bench.take({ kind: 'free-schedule', isInside: true })).toContain('free own.2');
  });

  it('gives way to lockdown and comes back after it', () => {
    const bench = DoorBench.shut();
    bench.take({ kind: 'free-schedule', isInside: true });
    bench.doneAll();
    expect(bench.command('m-1', { kind: 'mode', mode: 'lockdown' })).toContain('secure own.2');
    bench.doneAll();
    bench.command('m-2', { kind: 'mode', mode: 'free' });
    expect(modeOf(bench.state.mode)).toBe('free');
  });
});

describe('an operator’s command', () => {
  it('releases for the time asked, once', () => {
    const bench = DoorBench.shut();
    expect(bench.command('c-1', { kind: 'release', ms: 700 })).toEqual(['release c-1 700', 'answer accepted']);
    bench.done('c-1');
    bench.pass(700);
    bench.take(locked);
    expect(bench.story).toEqual(['lock.released c-1', 'lock.secured c-1']);
  });

  it('secures at once, and says where nothing had to be done', () => {
    const bench = DoorBench.shut();
    bench.grant('r-1');
    bench.done('r-1');
    expect(bench.command('c-1', { kind: 'secure' })).toEqual(['secure c-1', 'answer accepted']);
    expect(bench.done('c-1')).toEqual(['lock.secured c-1']);
    expect(bench.command('c-2', { kind: 'secure' })).toEqual(['lock.secured c-2', 'answer already-so']);
  });

  it('to a lock that is not there is refused, not kept', () => {
    const bench = DoorBench.shut();
    bench.take(down);
    expect(bench.command('c-1', { kind: 'secure' })).toEqual(['command.refused c-1', 'answer LOCK_UNREACHABLE']);
    expect(bench.command('c-2', { kind: 'release' })).toEqual(['command.refused c-2', 'answer LOCK_UNREACHABLE']);
  });

  it('that fails has a later entry of its own', () => {
    const secure = () => {
      const bench = DoorBench.shut();
      bench.grant('r-1');
      bench.done('r-1');
      bench.command('c-1', { kind: 'secure' });
      return bench;
    };
    expect(secure().result('c-1', { kind: 'unknown' })).toContain('release.unknown c-1');
    expect(secure().result('c-1', { kind: 'refused', reason: 'jammed' })).toContain('lock.refused c-1');
    expect(secure().result('c-1', { kind: 'not-executed', reason: 'busy' })).toContain('lock.not-executed c-1');
  });

  it('for a mode that is on already changes nothing', () => {
    const bench = DoorBench.shut();
    expect(bench.command('m-1', { kind: 'mode', mode: 'controlled' })).toEqual([
      'door.mode-changed m-1',
      'answer already-so',
    ]);
  });
});

describe('a start', () => {
  it('sends nothing to a lock that is right already', () => {
    const bench = new DoorBench();
    bench.take(up);
    bench.take({ kind: 'contact', level: closed });
    expect(bench.take(locked)).toEqual(['door.state-changed -']);
    expect(bench.pass(3_600_000)).toEqual([]);
    expect(bench.status).toBe('secured');
  });

  it('secures once what it finds released', () => {
    const bench = new DoorBench();
    bench.take(up);
    bench.take(unlockable);
    expect(bench.pass(1_000)).toEqual(['secure own.1']);
    bench.done('own.1');
    expect(bench.pass(3_600_000)).toEqual([]);
  });

  it('frees once where the persisted mode is free, and not if it is free already', () => {
    const bench = new DoorBench({}, { commandedMode: 'free' });
    bench.take(up);
    expect(bench.take(locked)).toContain('free own.1');
    const already = new DoorBench({}, { commandedMode: 'free' });
    already.take(up);
    already.take(unlockable);
    expect(already.pass(3_600_000)).toEqual([]);
  });

  it('sends nothing at all to a lock that fire holds open', () => {
    const bench = new DoorBench();
    bench.take(up);
    bench.take(unlockable);
    bench.take({ kind: 'fire', level: 'active' });
    expect(bench.pass(3_600_000)).toEqual([]);
  });

  it('secures once a lock that does not report', () => {
    const bench = new DoorBench();
    bench.take(up);
    expect(bench.pass(3_000)).toEqual(['secure own.1']);
    bench.done('own.1');
    expect(bench.pass(3_600_000)).toEqual([]);
  });

  it('is unknown until told, and does not call an open door forced', () => {
    const bench = new DoorBench();
    expect(bench.status).toBe('unknown');
    bench.take(up);
    bench.take(locked);
    expect(bench.status).toBe('unknown');
    expect(bench.contact(opened)).toEqual(['door.state-changed -']);
    expect(bench.status).toBe('open');
  });

  it('drops what is older than itself', () => {
    const bench = new DoorBench({}, { at: 5_000 as never });
    expect(bench.take(up)).toEqual([]);
    expect(bench.state.lock.isUp).toBe(false);
  });
});

describe('an outage', () => {
  it('makes the door unknown, with what it was and since when', () => {
    const bench = DoorBench.shut();
    bench.pass(1_234);
    expect(bench.take(down)).toEqual(['door.state-changed -']);
    expect(bench.state.status).toEqual({ kind: 'unknown', since: 1_234, lastKnown: { kind: 'secured', at: 1_234 } });
    expect(lockFactOf(bench.state)).toBe('unreachable');
  });

  it('ends without a command where the lock is right', () => {
    const bench = DoorBench.shut();
    bench.take(down);
    bench.pass(60_000);
    bench.take(up);
    bench.take({ kind: 'contact', level: closed });
    bench.take(locked);
    expect(bench.status).toBe('secured');
    expect(bench.pass(3_600_000)).toEqual([]);
  });

  it('in the middle of a release ends the story when the lock is seen again', () => {
    const bench = DoorBench.shut();
    bench.grant('r-1');
    bench.done('r-1');
    bench.take(down);
    bench.pass(20_000);
    bench.take(up);
    bench.take({ kind: 'contact', level: closed });
    expect(bench.take(locked)).toContain('lock.secured r-1');
  });

  it('shorter than a release does not cut it off', () => {
    const bench = DoorBench.shut();
    bench.grant('r-1', { releaseMs: 30_000 });
    bench.done('r-1');
    bench.take(down);
    bench.pass(2_000);
    bench.take(up);
    bench.take({ kind: 'contact', level: closed });
    bench.take(unlockable);
    expect(bench.status).toBe('released');
    expect(bench.pass(20_000)).toEqual([]);
  });

  it('keeps an opening’s story', () => {
    const bench = openedBy('r-1');
    bench.doneAll();
    bench.take(down);
    bench.take(up);
    expect(bench.take({ kind: 'contact', level: closed })).toContain('door.closed r-1');
  });

  it('in which the door was opened is said, and called no forcing', () => {
    const bench = DoorBench.shut();
    bench.take(down);
    bench.take(up);
    bench.take(locked);
    expect(bench.take({ kind: 'contact', level: opened })).toEqual(['door.opened -', 'door.state-changed -']);
    expect(bench.status).toBe('open');
  });
});

describe('a lock that does not do as told', () => {
  it('is jammed after two tries, retries later and later, and recovers', () => {
    const bench = DoorBench.shut();
    bench.grant('r-1');
    bench.done('r-1');
    bench.pass(6_000);
    bench.result('own.1', { kind: 'refused', reason: 'jammed' });
    expect(bench.pass(1_000)).toEqual(['secure own.2', 'door.state-changed -']);
    expect(bench.result('own.2', { kind: 'refused', reason: 'jammed' })).toEqual([
      'raise LOCK_JAMMED',
      'door.state-changed -',
    ]);
    expect(bench.status).toBe('jammed');
    expect(lockFactOf(bench.state)).toBe('faulted');
    expect(bench.grant('r-2')).toEqual(['lock.not-executed r-2']);
    expect(bench.pass(60_000)).toContain('secure own.3');
    bench.result('own.3', { kind: 'unknown' });
    expect(bench.pass(119_999)).toEqual([]);
    expect(bench.pass(1)).toContain('secure own.4');
    expect(bench.done('own.4')).toEqual(['clear LOCK_JAMMED', 'lock.secured r-1']);
  });

  it('is put back twice, then left alone and called jammed', () => {
    const bench = DoorBench.shut();
    for (const id of ['own.1', 'own.2']) {
      bench.take(unlockable);
      expect(bench.pass(1_000)).toEqual([`secure ${id}`]);
      bench.done(id);
    }
    expect(bench.take(unlockable)).toEqual(['raise LOCK_JAMMED', 'door.state-changed -']);
  });
});

describe('a contact that cannot be read', () => {
  it('is tampering, and the door unknown, not secured', () => {
    const bench = DoorBench.shut();
    expect(bench.take({ kind: 'contact', level: 'short' })).toEqual([
      'raise DEVICE_INPUT_FAULT',
      'door.state-changed -',
    ]);
    expect(bench.status).toBe('unknown');
    expect(bench.take({ kind: 'contact', level: closed })).toContain('clear DEVICE_INPUT_FAULT');
    expect(bench.status).toBe('secured');
  });

  it('reads as open where it is not supervised', () => {
    const bench = DoorBench.shut({
      contact: { device: ioDevice, input: 0, activeWhenTrue: true, supervised: false },
    });
    expect(bench.contact('cut')).toContain('raise DOOR_FORCED');
  });
});

describe('a door without a contact', () => {
  it('tells of release and secure, and sees the holder through at once', () => {
    const bench = DoorBench.shut({ contact: null });
    bench.grant('r-1');
    expect(bench.done('r-1')).toEqual(['lock.released r-1', 'passed r-1']);
    bench.pass(5_000);
    bench.take(locked);
    expect(bench.story).toEqual(['lock.released r-1', 'lock.secured r-1']);
    expect(bench.contact(opened)).toEqual([]);
  });
});

describe('a door without a lock', () => {
  it('records who went through, and is never shown as secured', () => {
    const bench = DoorBench.shut({ lock: null });
    expect(bench.status).toBe('released');
    expect(bench.grant('r-1')).toEqual(['lock.released r-1']);
    expect(bench.contact(opened)).toEqual(['door.opened r-1', 'passed r-1']);
    expect(bench.contact(closed)).toEqual(['door.closed r-1']);
    expect(bench.command('c-1', { kind: 'release' })).toEqual(['command.refused c-1', 'answer LOCK_UNREACHABLE']);
  });

  it('is held but never forced', () => {
    const bench = DoorBench.shut({ lock: null });
    expect(bench.contact(opened)).toEqual(['door.opened -']);
    expect(bench.pass(30_000)).toContain('raise DOOR_HELD');
  });
});

describe('the lamp of a waiting reader', () => {
  it('shows the mode', () => {
    const bench = DoorBench.shut();
    expect(standingSignal(bench.state)).toBe('idle');
    bench.command('m-1', { kind: 'mode', mode: 'lockdown' });
    expect(standingSignal(bench.state)).toBe('lockdown');
  });
});
