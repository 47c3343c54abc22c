/** An import set in one JSON file: an object with one array per section, and the facility. */
import type { ImportIssues } from './import-issue.ts';
import { jsonFaultOffset } from './json-fault.ts';
import { itemLines } from './json-line.ts';
import { twinKeys } from './json-twin-keys.ts';
import { isSection, sections } from './section.ts';
import type { SourceFile, SourceRecord } from './source-record.ts';

export function readJson(file: SourceFile, issues: ImportIssues): readonly SourceRecord[] {
  const refuse = (line: number, field: string, rule: string, example = '') =>
    issues.add({ place: { file: file.name, line, row: 'whole file' }, field, rule, example });
  const set = parse(file.text);
  if (set.kind === 'broken') {
    refuse(set.line, '', `is not JSON: ${set.problem}`);
    issues.markPartial(sections);
    return [];
  }
  if (!isObject(set.value)) {
    refuse(1, '', 'must be an object', '{"facility": {…}, "doors": […]}');
    issues.markPartial(sections);
    return [];
  }
  refuseTwins(file, issues);
  const lines = itemLines(file.text);
  const records: SourceRecord[] = [];
  for (const [section, value] of Object.entries(set.value)) {
    const line = (index: number) => lines.get(section)?.[index] ?? 1;
    if (!isSection(section)) {
      refuse(line(0), section, `is not a section; they are ${sections.join(', ')}`);
      issues.markPartial(sections);
      continue;
    }
    if (section === 'facility') {
      records.push({ section, place: { file: file.name, line: line(0), row: section }, value });
      continue;
    }
    if (!Array.isArray(value)) {
      refuse(line(0), section, 'must be an array');
      issues.markPartial([section]);
      continue;
    }
    for (const [index, item] of value.entries()) {
      records.push({
        section,
        place: { file: file.name, line: line(index), row: `${section}[${index}]` },
        value: item,
      });
    }
  }
  return records;
}

function refuseTwins({ name, text }: SourceFile, issues: ImportIssues): void {
  for (const { key, line, isTop } of twinKeys(text)) {
    const rule = 'stands twice in one object; which of them is meant cannot be known';
    issues.add({ place: { file: name, line, row: 'whole file' }, field: key, rule, example: '' });
    if (isTop) issues.markPartial(sections);
  }
}

type Parsed =
  | { readonly kind: 'parsed'; readonly value: unknown }
  | { readonly kind: 'broken'; readonly line: number; readonly problem: string };

function parse(text: string): Parsed {
  try {
    return { kind: 'parsed', value: JSON.parse(text) };
  } catch {
    // The engine's own words repeat the text around the place, which may hold a PIN.
    const offset = jsonFaultOffset(text);
    const line = text.slice(0, offset).split('\n').length;
    const sign = text.charAt(offset);
    return {
      kind: 'broken',
      line,
      problem: sign === '' ? 'it ends too early' : `${JSON.stringify(sign)} cannot stand there`,
    };
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
