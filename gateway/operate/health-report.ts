/** What the cloud is told of this gateway's health with each ack; at a glance, and no proof of anything. */
import { machine, uptime } from 'node:os';
import type { GatewayHealth } from '#shared/contract/sync/feed.ts';
import { modeOf } from '../door/door-state.ts';
import type { DoorProcess } from './door-process.ts';

const doorsMax = 64;
const devicesMax = 256;
const alarmsMax = 64;

export function readHealth(process: DoorProcess): GatewayHealth {
  const { version, time, journal, storage, doors, buses, alarms } = process;
  const offline = buses().flatMap(({ driver }) => driver.health().filter(({ state }) => state !== 'online'));
  const standing = [...alarms.list().map(({ code }) => code), ...doors.shells.flatMap((shell) => shell.alarms)];
  return {
    version,
    hardware: machine(),
    uptimeS: Math.floor(uptime()),
    clock: time.read().state,
    journal: journal.state().kind,
    storage: storageWord(storage.status().state),
    doors: doors.shells.slice(0, doorsMax).map(({ state }) => ({
      door: state.row.id,
      state: state.status.kind,
      mode: modeOf(state.mode),
    })),
    devicesOffline: offline.slice(0, devicesMax).map(({ device }) => device),
    alarms: [...new Set(standing)].slice(0, alarmsMax),
  };
}

const storageWord = (state: ReturnType<DoorProcess['storage']['status']>['state']): GatewayHealth['storage'] =>
  state === 'read-only' || state === 'unreachable' ? 'failed' : state;
