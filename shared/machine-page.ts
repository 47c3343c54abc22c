/** A machine as a page: its table, its picture, its conditions. Generated, so that it cannot differ from what runs. */
import { type Answer, type AnyMachine, answersOf } from './machine.ts';
import { transitionRules } from './machine-rules.ts';

/** Markdown with one table and one Mermaid diagram. */
export function machinePage(machine: AnyMachine): string {
  return [
    `# ${machine.name}`,
    '',
    machine.about,
    '',
    'Generated from its declaration; `node tools/generate-machines.ts` writes it anew.',
    '',
    ...tableLines(machine),
    '',
    `\`=CODE\` changes nothing and says so · \`~\` conflict \`${machine.conflict}\` · \`✗\` refused \`ILLEGAL_TRANSITION\``,
    ...conditionLines(machine),
    '',
    ...pictureLines(machine),
    '',
  ].join('\n');
}

function tableLines(machine: AnyMachine): readonly string[] {
  const { states, events } = machine;
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    row(['event', ...states]),
    row(['---', ...states.map(() => '---')]),
    ...events.map((event) =>
      row([event, ...states.map((state) => answersOf(machine, state, event).map(answerText).join('; '))]),
    ),
  ];
}

function answerText(answer: Answer<string, string>): string {
  const condition = answer.when === undefined ? '' : `if ${answer.when}: `;
  return condition + resultText(answer);
}

function resultText(answer: Answer<string, string>): string {
  if ('noop' in answer) return `=${answer.noop}`;
  if ('refuse' in answer) return `refused ${answer.refuse}`;
  if ('is' in answer) return answer.is === 'conflict' ? '~' : '✗';
  const needs = answer.needs.length === 0 ? '' : ` (needs ${answer.needs.join(', ')})`;
  const sets = Object.entries(answer.sets).map(([name, value]) => `, ${name} = ${value ?? 'none'}`);
  return `**${answer.to}**${sets.join('')}${needs}`;
}

function conditionLines({ conditions }: AnyMachine): readonly string[] {
  const lines = Object.entries(conditions).map(([name, { says, refuses }]) => {
    return `- \`${name}\`: ${says}${refuses === undefined ? '' : ` (else \`${refuses}\`)`}`;
  });
  return lines.length === 0 ? [] : ['', ...lines];
}

function pictureLines(machine: AnyMachine): readonly string[] {
  const rules = transitionRules(machine).filter(({ from_state, to_state }) => from_state !== to_state);
  return [
    '```mermaid',
    'stateDiagram-v2',
    `  [*] --> ${machine.initial}`,
    ...rules.map(({ from_state, to_state, event }) => `  ${from_state} --> ${to_state}: ${event}`),
    '```',
  ];
}
