/**
 * A whole facility from files: all of it is right, or nothing comes of it.
 *
 * Guarantees: every mistake found is told with file, line, row, field, rule and example (up to 100), not just the first;
 * rows come out only without mistakes. Slow by design where there are PINs: each takes some 36 ms, one after another.
 * Not promised: that devices named here exist (they are warned of where `devices` tells them); bindings to what is not configured show as `lock.unreachable`.
 */
import { randomBytes } from 'node:crypto';
import type { FacilityRows } from '#shared/contract/replica-row.ts';
import { checkCredentials } from './check-credentials.ts';
import { checkPins } from './check-pins.ts';
import { checkReferences } from './check-references.ts';
import { checkTimes } from './check-times.ts';
import { ImportIssues } from './import-issue.ts';
import { makeRows } from './make-rows.ts';
import { readCsv } from './read-csv.ts';
import { readJson } from './read-json.ts';
import { readRows, type WrittenRows } from './read-rows.ts';
import { isSection, type Section, sections } from './section.ts';
import type { SourceFile, SourceRecord } from './source-record.ts';
import { deviceWarnings } from './warn-devices.ts';

export interface ImportPlan {
  /** One `.json` file, or `.csv` files named after their sections. */
  readonly files: readonly SourceFile[];
  readonly lookupKey: Uint8Array;
  /** Told of what takes long. */
  readonly onProgress?: (text: string) => void;
  /** Only checks: no PIN is hashed, no rows are made. */
  readonly isDryRun?: boolean;
  /** Devices of the configuration; rows that name others are warned of. Unknown where absent. */
  readonly devices?: readonly string[];
  readonly signal?: AbortSignal;
}

export interface ImportFindings {
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
  /** Rows written, by section. */
  readonly counts: { readonly [section: string]: number };
}

export type ImportOutcome =
  | { readonly kind: 'refused'; readonly findings: ImportFindings }
  | { readonly kind: 'checked'; readonly findings: ImportFindings }
  | { readonly kind: 'ready'; readonly findings: ImportFindings; readonly rows: FacilityRows };

/** @throws the reason of `plan.signal` when it is aborted. */
export async function importFacility(plan: ImportPlan): Promise<ImportOutcome> {
  const issues = new ImportIssues();
  const records = readSource(plan.files, issues);
  const written = readRows(records, issues);
  requireFacility(records, plan.files, issues);
  checkReferences(written, records, issues);
  checkTimes(written, issues);
  checkPins(written, issues);
  const warnings = [...checkCredentials(written, issues), ...doorWarnings(written, plan.devices)];
  const findings = () => ({ errors: issues.texts(), warnings, counts: countsOf(records) });
  if (issues.count > 0) return { kind: 'refused', findings: findings() };
  const { lookupKey, onProgress = () => {}, isDryRun = false, signal = new AbortController().signal } = plan;
  if (isDryRun) return { kind: 'checked', findings: findings() };
  const keys = { lookupKey, onProgress, signal, pinSalt: randomBytes(16).toString('hex') };
  return { kind: 'ready', findings: findings(), rows: await makeRows(written, keys) };
}

function readSource(files: readonly SourceFile[], issues: ImportIssues): readonly SourceRecord[] {
  const broken = files.filter(({ encodingFault }) => encodingFault !== undefined);
  for (const { name, encodingFault } of broken) {
    const place = { file: name, line: encodingFault?.line ?? 1, row: 'whole file' };
    issues.add({ place, field: '', rule: encodingFault?.rule ?? '', example: '' });
    issues.markPartial(sectionsOf(name));
  }
  return readTexts(
    files.filter((file) => !broken.includes(file)),
    issues,
    broken.length > 0,
  );
}

/** A file of CSV holds its section, any other may hold all. */
function sectionsOf(name: string): readonly Section[] {
  const section = name.replace(/\.csv$/, '');
  return isSection(section) ? [section] : sections;
}

function readTexts(files: readonly SourceFile[], issues: ImportIssues, isRest: boolean): readonly SourceRecord[] {
  if (isRest && files.length === 0) return [];
  const [first] = files;
  if (first !== undefined && files.length === 1 && first.name.endsWith('.json')) return readJson(first, issues);
  const other = files.find(({ name }) => !name.endsWith('.csv'));
  if (other === undefined) return readCsv(files, issues);
  const rule = 'must be one JSON file, or CSV files only';
  issues.add({ place: { file: other.name, line: 1, row: 'whole file' }, field: '', rule, example: 'facility.json' });
  issues.markPartial(sections);
  return [];
}

function requireFacility(records: readonly SourceRecord[], files: readonly SourceFile[], issues: ImportIssues): void {
  if (issues.isPartial('facility') || records.some(({ section }) => section === 'facility')) return;
  const place = { file: files[0]?.name ?? 'import set', line: 1, row: 'whole set' };
  const example = '{"id": "hall", "name": "City Hall", "zone": "Asia/Tokyo"}';
  issues.add({ place, field: 'facility', rule: 'is missing', example });
}

function doorWarnings(written: WrittenRows, devices: readonly string[] | undefined): readonly string[] {
  const { doors, readers } = written;
  const read = new Set<string>(readers.map(({ row }) => row.door));
  return [
    ...doors.filter(({ row }) => !read.has(row.id)).map(({ row }) => `door ${row.id} has no reader`),
    ...doors
      .filter(({ row }) => row.lock === null)
      .map(({ row }) => `door ${row.id} has no lock: it refuses everybody`),
    ...doors.filter(({ row }) => hangsOutside(row, readers)).map(({ row }) => outsideWarning(row.id)),
    ...(devices === undefined ? [] : deviceWarnings(written, devices)),
  ];
}

/** Whether the strike hangs on an output of one of the door's own readers. */
const hangsOutside = ({ id, lock }: WrittenRows['doors'][number]['row'], readers: WrittenRows['readers']): boolean =>
  lock !== null && readers.some(({ row }) => row.door === id && row.device === lock.device);

const outsideWarning = (door: string): string =>
  `door ${door} is released by an output of its own reader, which hangs outside the wall: whoever opens the reader opens the door; use a board on the secure side`;

function countsOf(records: readonly SourceRecord[]): ImportFindings['counts'] {
  const counts = Object.fromEntries(sections.map((section) => [section, 0]));
  for (const { section } of records) counts[section] = (counts[section] ?? 0) + 1;
  return counts;
}
