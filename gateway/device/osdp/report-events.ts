/**
 * From what a reader reports to what the driver tells: changes only, and everything once after each connection.
 *
 * Pure: the memory of one connection goes in and out.
 */
import type { DecodedReply } from '#protocol/osdp/message.ts';
import { keysText } from '#protocol/osdp/reply/keys.ts';
import type { InputState } from '../driver.ts';

/** A device event without its device and time. */
export type Report =
  | {
      readonly kind: 'card';
      readonly head: number;
      readonly format: number;
      readonly bitCount: number;
      readonly bytes: Uint8Array;
    }
  | { readonly kind: 'keys'; readonly head: number; readonly keys: string }
  | { readonly kind: 'input'; readonly input: number; readonly state: InputState }
  | { readonly kind: 'output'; readonly output: number; readonly isActive: boolean }
  | { readonly kind: 'tamper'; readonly isActive: boolean }
  | { readonly kind: 'power'; readonly hasFailed: boolean };

/** What was told in this connection; `undefined` and missing: nothing yet. */
export interface ReportMemory {
  readonly isCaseOpen: boolean | undefined;
  readonly isHeadTampered: boolean;
  readonly hasPowerFailed: boolean | undefined;
  readonly inputs: readonly InputState[];
  readonly outputs: readonly boolean[];
}

export interface ReportStep {
  readonly memory: ReportMemory;
  readonly reports: readonly Report[];
}

export const nothingReported: ReportMemory = {
  isCaseOpen: undefined,
  isHeadTampered: false,
  hasPowerFailed: undefined,
  inputs: [],
  outputs: [],
};

/** Replies that report nothing, and those that are not understood, change nothing. */
export function reportEvents(memory: ReportMemory, reply: DecodedReply): ReportStep {
  switch (reply.kind) {
    case 'card':
      return tell(memory, {
        kind: 'card',
        head: reply.reader,
        format: reply.format,
        bitCount: reply.bitCount,
        bytes: reply.bytes,
      });
    case 'keys':
      return tell(memory, { kind: 'keys', head: reply.reader, keys: keysText(reply.keys) });
    case 'local-status':
      return localStatus(memory, reply);
    case 'reader-status':
      return headStatus(memory, reply.readers.includes('tampered'));
    case 'input-status':
      return inputStatus(memory, reply.inputs);
    case 'output-status':
      return outputStatus(memory, reply.outputs);
    default:
      return { memory, reports: [] };
  }
}

function tell(memory: ReportMemory, report: Report): ReportStep {
  return { memory, reports: [report] };
}

function localStatus(
  memory: ReportMemory,
  status: { readonly isTampered: boolean; readonly hasPowerFailed: boolean },
): ReportStep {
  const { isTampered, hasPowerFailed } = status;
  const now = { ...memory, isCaseOpen: isTampered, hasPowerFailed };
  const power: Report[] =
    memory.hasPowerFailed === hasPowerFailed ? [] : [{ kind: 'power', hasFailed: hasPowerFailed }];
  return { memory: now, reports: [...tamperChange(memory, now), ...power] };
}

function headStatus(memory: ReportMemory, isTampered: boolean): ReportStep {
  const now = { ...memory, isHeadTampered: isTampered };
  return { memory: now, reports: tamperChange(memory, now) };
}

/** One tamper for the device, whether its case or one of its heads says it. */
function tamperChange(before: ReportMemory, now: ReportMemory): Report[] {
  const isActive = tamperOf(now);
  return isActive === undefined || isActive === tamperOf(before) ? [] : [{ kind: 'tamper', isActive }];
}

function tamperOf({ isCaseOpen, isHeadTampered }: ReportMemory): boolean | undefined {
  return isHeadTampered ? true : isCaseOpen;
}

function inputStatus(memory: ReportMemory, inputs: readonly InputState[]): ReportStep {
  const reports = inputs.flatMap((state, input): Report[] =>
    memory.inputs[input] === state ? [] : [{ kind: 'input', input, state }],
  );
  return { memory: { ...memory, inputs: [...inputs, ...memory.inputs.slice(inputs.length)] }, reports };
}

function outputStatus(memory: ReportMemory, outputs: readonly boolean[]): ReportStep {
  const reports = outputs.flatMap((isActive, output): Report[] =>
    memory.outputs[output] === isActive ? [] : [{ kind: 'output', output, isActive }],
  );
  return { memory: { ...memory, outputs: [...outputs, ...memory.outputs.slice(outputs.length)] }, reports };
}
