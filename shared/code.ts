/**
 * The one registry of codes. A refusal, an alarm or a fault reads the same at the door, in the terminal, in the journal.
 *
 * Codes are UPPER_SNAKE and closed: a code that is not here does not compile. Texts are complete sentences in the
 * voice of the product; the remedy says what a person can do. `http` is the status where the code leaves over HTTP.
 * The texts stand by topic in `code/`; everybody imports from here.
 */
import { alarmTexts } from './code/alarm-texts.ts';
import { type CodeText, text } from './code/code-text.ts';
import { controlRefusals } from './code/control-refusals.ts';
import { credentialRefusals } from './code/credential-refusals.ts';
import { databaseFaults } from './code/database-faults.ts';
import { doorRefusals } from './code/door-refusals.ts';
import { gatewayRefusals } from './code/gateway-refusals.ts';
import { identityRefusals } from './code/identity-refusals.ts';
import { machineAnswers } from './code/machine-answers.ts';
import { requestRefusals } from './code/request-refusals.ts';
import { storeFaults } from './code/store-faults.ts';
import { syncRefusals } from './code/sync-refusals.ts';

/** Why a door refuses, in the order of precedence. */
export const refusals = doorRefusals;
export type RefusalCode = keyof typeof refusals;

/** What needs somebody’s attention now. */
export const alarms = alarmTexts;
export type AlarmCode = keyof typeof alarms;

export type FaultCode = keyof typeof storeFaults | keyof typeof databaseFaults;

const grants = {
  GRANTED: text(['Granted.', '許可しました。'], ['', ''], 200),
} as const satisfies Record<string, CodeText>;

/** The tables by topic; a code stands in exactly one of them. */
export const codeTables = [
  refusals,
  alarms,
  storeFaults,
  databaseFaults,
  grants,
  machineAnswers,
  requestRefusals,
  identityRefusals,
  credentialRefusals,
  syncRefusals,
  gatewayRefusals,
  controlRefusals,
] as const;

type CodesOf<Table> = Table extends unknown ? keyof Table : never;
export type Code = CodesOf<(typeof codeTables)[number]>;

const registry = Object.assign({}, ...codeTables) as Readonly<Record<Code, CodeText>>;

/** Whether a text that came over a wire or out of a file is a code of ours. */
export function isCode(value: string): value is Code {
  return Object.hasOwn(registry, value);
}

export type Language = 'en' | 'ja';

/** The sentence a person reads for a code. */
export function codeText(code: Code, language: Language): string {
  return registry[code][language];
}

/** What a person can do about it; empty where nothing needs doing. */
export function codeRemedy(code: Code, language: Language): string {
  return language === 'ja' ? registry[code].remedyJa : registry[code].remedyEn;
}

/** The status under which the code leaves over HTTP: 200 where nothing needed doing, 409, 422, 403 and so on. */
export function codeHttpStatus(code: Code): number {
  return registry[code].http;
}
