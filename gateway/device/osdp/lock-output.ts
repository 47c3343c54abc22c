/**
 * From what a lock shall do to what a reader's output shall do.
 *
 * A release runs by the reader's own timer and ends without us. Lasting states cancel a running timer.
 */
import type { PanelCommand } from '#protocol/osdp/panel-port.ts';
import type { DeviceCommand, LockPoint } from '../driver.ts';

export type LockCommand = Extract<DeviceCommand, { readonly lock: LockPoint }>;

const longestTenths = 65_535;

/** @returns an OUT command of one record; the time is rounded up to tenths of a second and capped at 6 553.5 s. */
export function lockOutput(command: LockCommand): PanelCommand {
  const { output, release } = command.lock;
  const timerTenths =
    command.kind === 'release' ? Math.min(longestTenths, Math.max(1, Math.ceil(command.ms / 100))) : 0;
  return { kind: 'output', records: [{ output, action: actionOf(command.kind, release), timerTenths }] };
}

function actionOf(kind: LockCommand['kind'], release: LockPoint['release']) {
  const isOn = (release === 'energise') === (kind !== 'secure');
  if (kind === 'release') return isOn ? 'on-for-timer' : 'off-for-timer';
  return isOn ? 'on' : 'off';
}
