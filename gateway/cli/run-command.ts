/** The gateway's commands, each loaded when it is called for. */
import type { Terminal } from '#shared/command-line/command.ts';
import { openTerminal } from '#shared/command-line/open-terminal.ts';
import { type ListedCommand, runProgram } from '#shared/command-line/run-program.ts';
import { environmentLanguage } from '../environment.ts';

const listed = (en: string, ja: string, load: ListedCommand['load']): ListedCommand => ({ summary: { en, ja }, load });

export const commands: Readonly<Record<string, ListedCommand>> = {
  door: listed(
    'run the door process: devices, decisions, journal',
    'door プロセスを起動(機器・判断・記録)',
    () => import('./door.ts'),
  ),
  edge: listed(
    'run the edge process: the way to the cloud',
    'edge プロセスを起動(クラウドへの経路)',
    () => import('./edge.ts'),
  ),
  run: listed('run both, each begun again when it ends', '両方を起動し、終了したら再起動', () => import('./run.ts')),
  enroll: listed(
    'join a facility in the cloud with a code',
    'コードでクラウドの施設に登録',
    () => import('./enroll.ts'),
  ),
  unenroll: listed('leave the cloud', 'クラウドから離脱', () => import('./unenroll.ts')),
  status: listed(
    'doors, devices, clock and storage at a glance',
    '扉・機器・時計・保存領域の一覧',
    () => import('./status.ts'),
  ),
  events: listed(
    'what happened; --follow for what happens',
    '記録を表示(--follow で続けて表示)',
    () => import('./events.ts'),
  ),
  explain: listed(
    'why a request was decided so, or how one would be',
    '判断の理由、または判断の予測',
    () => import('./explain.ts'),
  ),
  import: listed(
    'put a facility in force from JSON or CSV files',
    'JSON または CSV の施設を有効化',
    () => import('./import.ts'),
  ),
  reads: listed(
    'unknown cards of the last minute, for enrolment',
    '直近1分間の未登録カード(登録用)',
    () => import('./reads.ts'),
  ),
  release: listed('release a door once', '扉を一度解錠', () => import('./release.ts')),
  mode: listed(
    'set a door controlled, free or lockdown',
    '扉のモードを設定(制御・開放・閉鎖)',
    () => import('./mode.ts'),
  ),
  'install-window': listed(
    'let a device be given a key, for a limited time',
    '機器に鍵を設定できる時間を開始',
    () => import('./install-window.ts'),
  ),
  'accept-device': listed('a device was exchanged on purpose', '機器の交換を承認', () => import('./accept-device.ts')),
  'clock-set': listed(
    'tell the gateway the time (±30 s)',
    'ゲートウェイの時刻を設定(±30秒)',
    () => import('./clock-set.ts'),
  ),
  'area-reset': listed(
    'forget where anti-passback believes a holder to be',
    'アンチパスバックの現在地を消去',
    () => import('./area-reset.ts'),
  ),
  discover: listed('find OSDP devices on a line', '回線上の OSDP 機器を検索', () => import('./discover.ts')),
  capture: listed(
    'watch a line, decoded and redacted',
    '回線の通信を解読して表示(秘密は伏せる)',
    () => import('./capture.ts'),
  ),
  'verify-journal': listed(
    'prove that the history was not changed',
    '記録が改ざんされていないことを検証',
    () => import('./verify-journal.ts'),
  ),
  doctor: listed('check everything an installer would ask', '設置に必要な点をすべて点検', () => import('./doctor.ts')),
  simulate: listed(
    'run simulated readers, locks and doors',
    '模擬のリーダー・錠・扉を起動',
    () => import('./simulate.ts'),
  ),
};

/** @param terminal the process's own, unless told otherwise. @returns the exit code. */
export const runCommand = (args: readonly string[], terminal: Terminal = openTerminal(environmentLanguage())) =>
  runProgram({ name: 'kannuki-gateway', commands }, args, terminal);
