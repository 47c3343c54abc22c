/**
 * What every driver of devices keeps, whatever its wire.
 *
 * A driver's own tests give a bench: the driver, one device at the other end of its real transport, and hands to unplug
 * and to present cards with.
 */
import { describe, expect, it, type TestContext } from 'vitest';
import type { CommandResult, DeviceCommand, DeviceEvent, Driver, LockPoint } from '#gateway/device/driver.ts';
import { type DeviceId, identifier } from '#shared/identifier.ts';
import { later, type MonoMs } from '#shared/instant.ts';
import { waitUntil } from '../fakes/wait-until.ts';

export interface DriverBench {
  readonly driver: Driver;
  readonly now: () => MonoMs;
  /** At the other end. */
  readonly present: DeviceId;
  /** Configured, and never there. */
  readonly absent: DeviceId;
  readonly lock: LockPoint;
  /** The line and the device appear; before that there is nothing. */
  readonly plug: () => Promise<void>;
  readonly unplug: () => Promise<void>;
  readonly swipe: (bitCount: number, bytes: Uint8Array) => void;
  /** Everything the device was told to do with its outputs, in order, described in the driver's own words. */
  readonly outputOrders: () => readonly string[];
  readonly close: () => Promise<void>;
}

const requestId = identifier<'request'>('contract');
const card = Uint8Array.of(0xbd, 0xd9, 0x37, 0x40);
/** Longer than any device takes to be found. */
const patienceMs = 15_000;

/** A bench in use: what it told, and the usual moves. */
async function takeStage(openBench: () => Promise<DriverBench>, onTestFinished: TestContext['onTestFinished']) {
  const bench = await openBench();
  onTestFinished(() => bench.close());
  const events: DeviceEvent[] = [];
  const open = () => bench.driver.open((event) => events.push(event));
  const stateOf = (device: DeviceId) => bench.driver.health().find((health) => health.device === device)?.state;
  const isOnline = () => stateOf(bench.present) === 'online';
  return {
    bench,
    events,
    open,
    stateOf,
    isOnline,
    told: (kind: DeviceEvent['kind'], device = bench.present) =>
      events.filter((event) => event.kind === kind && event.device === device),
    goOnline: async () => {
      await bench.plug();
      open();
      await waitUntil('the device', isOnline, patienceMs);
    },
    quietExchanges: async () => {
      let messages = 0;
      const end = bench.driver.observe(() => {
        messages += 1;
      });
      await waitUntil('some messages', () => messages >= 6);
      end();
    },
    release: (): DeviceCommand => ({ kind: 'release', requestId, lock: bench.lock, ms: 1_000 }),
    tell: (command: DeviceCommand, device = bench.present, withinMs = 2_000): Promise<CommandResult> =>
      bench.driver.command(device, command, later(bench.now(), withinMs)),
  };
}

export function driverContract(name: string, openBench: () => Promise<DriverBench>): void {
  const stage = ({ onTestFinished }: TestContext) => takeStage(openBench, onTestFinished);

  describe.concurrent(`${name} keeps the driver’s contract`, () => {
    it('opens without its device, says so, and finds it when it comes', async (context) => {
      const { bench, open, stateOf, isOnline, told } = await stage(context);
      open();
      await waitUntil('the absence', () => stateOf(bench.present) === 'offline', patienceMs);
      expect(told('offline')).toHaveLength(1);
      await bench.plug();
      await waitUntil('the device', isOnline, patienceMs);
      expect(told('online')).toHaveLength(1);
    });

    it('has a health for every device, before anything else', async (context) => {
      const { bench } = await stage(context);
      const devices = bench.driver.health().map((health) => health.device);
      expect(devices).toContain(bench.present);
      expect(devices).toContain(bench.absent);
    });

    it('tells who the device is when it is there', async (context) => {
      const { told, goOnline } = await stage(context);
      await goOnline();
      const [online] = told('online');
      expect(online).toMatchObject({ kind: 'online', identity: { serial: expect.stringMatching(/./) } });
    });

    it('tells a card with its bits and its time', async (context) => {
      const { bench, told, goOnline, quietExchanges } = await stage(context);
      await goOnline();
      // One that comes at once may count as from before the connection; then it is said, and the next one counts.
      let before = bench.now();
      for (let discarded = 0; told('card').length === 0; discarded += 1) {
        before = bench.now();
        bench.swipe(26, card);
        await waitUntil('the card', () => told('card').length > 0 || told('discarded').length > discarded);
        await quietExchanges();
      }
      const [event] = told('card');
      expect(event).toMatchObject({ bitCount: 26, bytes: card });
      expect(event?.at).toBeGreaterThanOrEqual(before);
      expect(event?.at).toBeLessThanOrEqual(bench.now());
    });

    it('carries out a release, once, and says so', async (context) => {
      const { bench, goOnline, release, tell } = await stage(context);
      await goOnline();
      expect(await tell(release())).toEqual({ kind: 'done' });
      expect(bench.outputOrders()).toHaveLength(1);
    });

    it('carries out every kind of lock command', async (context) => {
      const { bench, goOnline, tell } = await stage(context);
      await goOnline();
      const { lock } = bench;
      expect(await tell({ kind: 'free', requestId, lock })).toEqual({ kind: 'done' });
      expect(await tell({ kind: 'secure', requestId, lock })).toEqual({ kind: 'done' });
      expect(bench.outputOrders()).toHaveLength(2);
    });

    it('does not begin a command at its deadline', async (context) => {
      const { bench, goOnline, release, tell } = await stage(context);
      await goOnline();
      expect(await tell(release(), bench.present, 0)).toEqual({ kind: 'not-executed', reason: 'expired' });
      expect(bench.outputOrders()).toEqual([]);
    });

    it('keeps nothing for a device that is not there', async (context) => {
      const { bench, open, isOnline, release, tell } = await stage(context);
      open();
      expect(await tell(release())).toEqual({ kind: 'not-executed', reason: 'offline' });
      await bench.plug();
      await waitUntil('the device', isOnline, patienceMs);
      expect(await tell(release(), bench.absent)).toEqual({ kind: 'not-executed', reason: 'offline' });
      expect(await tell(release(), identifier<'device'>('nobody'))).toEqual({
        kind: 'not-executed',
        reason: 'offline',
      });
      expect(bench.outputOrders()).toEqual([]);
    });

    it('answers every command, however many there are', async (context) => {
      const { bench, goOnline, release, tell } = await stage(context);
      await goOnline();
      const results = await Promise.all(Array.from({ length: 100 }, () => tell(release())));
      for (const result of results) expect(['done', 'not-executed']).toContain(result.kind);
      const done = results.filter((result) => result.kind === 'done').length;
      expect(bench.outputOrders()).toHaveLength(done);
    });

    it('answers what is under way when the device goes', async (context) => {
      const { bench, goOnline, release, tell } = await stage(context);
      await goOnline();
      const asked = Array.from({ length: 5 }, () => tell(release(), bench.present, 60_000));
      await bench.unplug();
      for (const result of await Promise.all(asked)) expect(['done', 'unknown', 'not-executed']).toContain(result.kind);
    });

    it('touches no output by opening, losing, finding again or closing', async (context) => {
      const { bench, stateOf, isOnline, told, goOnline } = await stage(context);
      await goOnline();
      await bench.unplug();
      await waitUntil('the loss', () => stateOf(bench.present) === 'offline', patienceMs);
      await bench.plug();
      await waitUntil('the return', isOnline, patienceMs);
      await bench.driver.close();
      expect(bench.outputOrders()).toEqual([]);
      expect(told('online')).toHaveLength(2);
    });

    it('says at its end that its devices are no longer looked after, and then nothing', async (context) => {
      const { bench, events, goOnline, release, tell } = await stage(context);
      await goOnline();
      await bench.driver.close();
      expect(events.at(-1)).toMatchObject({ kind: 'offline' });
      const count = events.length;
      expect(await tell(release())).toEqual({ kind: 'not-executed', reason: 'offline' });
      expect(events).toHaveLength(count);
    });

    it('opens no install window for a device it does not know', async (context) => {
      const { bench } = await stage(context);
      const nobody = identifier<'device'>('nobody');
      expect(bench.driver.openInstallWindow(nobody, later(bench.now(), 1_000), new Uint8Array(16))).toBe(
        'unknown-device',
      );
    });

    it('shows the bytes of its line to those who watch, as long as they do', async (context) => {
      const { bench, goOnline, release, tell } = await stage(context);
      let count = 0;
      const end = bench.driver.observe(() => {
        count += 1;
      });
      await goOnline();
      expect(count).toBeGreaterThan(0);
      end();
      const before = count;
      expect(await tell(release())).toEqual({ kind: 'done' });
      expect(count).toBe(before);
    });
  });
}
