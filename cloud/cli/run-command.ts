/** The cloud's commands, each loaded when it is called for. */
import type { Terminal } from '#shared/command-line/command.ts';
import { openTerminal } from '#shared/command-line/open-terminal.ts';
import { type ListedCommand, runProgram } from '#shared/command-line/run-program.ts';
import { readEnvironment } from '../environment.ts';

const listed = (en: string, ja: string, load: ListedCommand['load']): ListedCommand => ({ summary: { en, ja }, load });

const commands: Readonly<Record<string, ListedCommand>> = {
  run: listed('serve the API and the gateways', 'API とゲートウェイの受け付けを開始', () => import('./run.ts')),
  migrate: listed('bring the database to this version', 'データベースをこの版に更新', () => import('./migrate.ts')),
  'create-owner': listed(
    'make an organization, a facility and its owner',
    '組織・施設・所有者を作成',
    () => import('./create-owner.ts'),
  ),
  'enroll-code': listed(
    'make a code by which one gateway may come in',
    'ゲートウェイを1台登録するためのコードを発行',
    () => import('./enroll-code.ts'),
  ),
  gateways: listed(
    'how far each gateway is behind, and when it was heard of',
    '各ゲートウェイの遅れと最終応答',
    () => import('./gateways.ts'),
  ),
  'verify-audit': listed(
    'prove that what was done was not rewritten',
    '操作の記録が書き換えられていないことを検証',
    () => import('./verify-audit.ts'),
  ),
  doctor: listed(
    'check everything that an operator would ask',
    '運用に必要な点をすべて点検',
    () => import('./doctor.ts'),
  ),
};

/** @param terminal the process's own, unless told otherwise. @returns the exit code. */
export const runCommand = (args: readonly string[], terminal: Terminal = openTerminal(readEnvironment().language)) =>
  runProgram({ name: 'kannuki-cloud', commands }, args, terminal);
