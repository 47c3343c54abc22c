/**
 * Believes rows only after their schema: what fits comes out typed, with its place; what does not becomes issues.
 */
import type { z } from 'zod';
import { printable } from '#shared/printable.ts';
import { fieldExample, knownFields } from './field-example.ts';
import type { ImportIssues, SourcePlace } from './import-issue.ts';
import { importSchemas, rowsMax, type Written } from './import-schema.ts';
import { type Section, sections } from './section.ts';
import type { SourceRecord } from './source-record.ts';

export interface Placed<Row> {
  readonly place: SourcePlace;
  readonly row: Row;
}

export type WrittenRows = { readonly [Of in Section]: readonly Placed<Written[Of]>[] };

export function readRows(records: readonly SourceRecord[], issues: ImportIssues): WrittenRows {
  const rows = Object.fromEntries(sections.map((section) => [section, [] as unknown[]]));
  for (const record of records) {
    const parsed = importSchemas[record.section].safeParse(record.value);
    if (parsed.success) {
      rows[record.section]?.push({ place: record.place, row: parsed.data });
      refuseControlSigns(record.place, parsed.data, issues);
    } else for (const issue of parsed.error.issues) addSchemaIssue(record, issue, issues);
  }
  for (const section of sections) refuseTooMany(section, records, issues);
  return rows as unknown as WrittenRows;
}

/** Names are shown in terminals, which would obey them. */
function refuseControlSigns(place: SourcePlace, row: object, issues: ImportIssues): void {
  for (const [field, value] of Object.entries(row)) {
    if (typeof value !== 'string' || printable(value) === value) continue;
    issues.add({ place, field, rule: 'must be without control signs', example: '' });
  }
}

function refuseTooMany(section: Section, records: readonly SourceRecord[], issues: ImportIssues): void {
  const those = records.filter((record) => record.section === section);
  const surplus = those[rowsMax[section]];
  if (surplus === undefined) return;
  const rule = `is one of ${those.length} ${section}; at most ${rowsMax[section]} are possible`;
  issues.add({ place: surplus.place, field: '', rule, example: '' });
}

function addSchemaIssue({ section, place }: SourceRecord, issue: z.core.$ZodIssue, issues: ImportIssues): void {
  const path = pathText(issue.path);
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys) {
      const field = path === '' ? key : `${path}.${key}`;
      const rule =
        path === '' ? `is not a known field; they are ${knownFields(section).join(', ')}` : 'is not a known field';
      issues.add({ place, field, rule, example: fieldExample(section, path) });
    }
    return;
  }
  issues.add({ place, field: path, rule: ruleText(issue), example: fieldExample(section, path) });
}

function pathText(path: readonly PropertyKey[]): string {
  let text = '';
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`;
    else text += text === '' ? String(step) : `.${String(step)}`;
  }
  return text;
}

/** The schema's complaint in the words of the house; where it has words of its own, those. */
function ruleText(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined && issue.message.endsWith('undefined')
        ? 'is missing'
        : `must be of type ${issue.expected}`;
    case 'too_small':
      return `must be at least ${issue.minimum}${unitOf(issue.origin)}`;
    case 'too_big':
      return `must be at most ${issue.maximum}${unitOf(issue.origin)}`;
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'invalid_union':
      return 'has none of the forms it may have';
    case 'invalid_format':
      return issue.message.startsWith('Invalid') ? `is not a valid ${issue.format}` : issue.message;
    default:
      return issue.message;
  }
}

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters';
  return origin === 'array' ? ' items' : '';
}
