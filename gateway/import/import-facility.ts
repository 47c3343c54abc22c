/**
 * A whole facility from files: all of it is right, or nothing comes of it.
 *
 * Guarantees: every mistake found is told with file, line, row, field, rule and example (up to 100), not just the first;
 * rows come out only without mistakes. Slow by design where there are PINs: each takes some 36 ms, one after another.
 * Not promised: that devices named here exist; bindings to what is not configured show as `lock.unreachable`.
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
import { type SourceFile, type SourceRecord, sections } from './source-record.ts';

export interface ImportPlan {
  /** One `.json` file, or `.csv` files named after their sections. */
  readonly files: readonly SourceFile[];
  readonly lookupKey: Uint8Array;
  /** Told of what takes long. */
  readonly onProgress?: (text: string) => void;
  /** Only checks: no PIN is hashed, no rows are made. */
  readonly isDryRun?: boolean;
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

export async function importFacility(plan: ImportPlan): Promise<ImportOutcome> {
  const issues = new ImportIssues();
  const records = readSource(plan.files, issues);
  // Where whole files or sections could not be read, what refers to them says nothing new.
  const isReadable = issues.count === 0;
  const written = readRows(records, issues);
  if (isReadable) {
    requireFacility(records, plan.files, issues);
    checkReferences(written, records, issues);
  }
  checkTimes(written, issues);
  checkPins(written, issues);
  const warnings = [...checkCredentials(written, issues), ...doorWarnings(written)];
  const findings = () => ({ errors: issues.texts(), warnings, counts: countsOf(records) });
  if (issues.count > 0) return { kind: 'refused', findings: findings() };
  const { lookupKey, onProgress = () => {}, isDryRun = false } = plan;
  if (isDryRun) return { kind: 'checked', findings: findings() };
  const keys = { lookupKey, onProgress, pinSalt: randomBytes(16).toString('hex') };
  const rows = await makeRows(written, keys, issues);
  return rows === undefined ? { kind: 'refused', findings: findings() } : { kind: 'ready', findings: findings(), rows };
}

function readSource(files: readonly SourceFile[], issues: ImportIssues): readonly SourceRecord[] {
  const [first] = files;
  if (first !== undefined && files.length === 1 && first.name.endsWith('.json')) return readJson(first, issues);
  const other = files.find(({ name }) => !name.endsWith('.csv'));
  if (other === undefined) return readCsv(files, issues);
  const rule = 'must be one JSON file, or CSV files only';
  issues.add({ place: { file: other.name, line: 1, row: 'whole file' }, field: '', rule, example: 'facility.json' });
  return [];
}

function requireFacility(records: readonly SourceRecord[], files: readonly SourceFile[], issues: ImportIssues): void {
  if (records.some(({ section }) => section === 'facility')) return;
  const place = { file: files[0]?.name ?? 'import set', line: 1, row: 'whole set' };
  const example = '{"id": "hall", "name": "City Hall", "zone": "Asia/Tokyo"}';
  issues.add({ place, field: 'facility', rule: 'is missing', example });
}

function doorWarnings({ doors, readers }: WrittenRows): readonly string[] {
  const read = new Set<string>(readers.map(({ row }) => row.door));
  return [
    ...doors.filter(({ row }) => !read.has(row.id)).map(({ row }) => `door ${row.id} has no reader`),
    ...doors
      .filter(({ row }) => row.lock === null)
      .map(({ row }) => `door ${row.id} has no lock: it refuses everybody`),
  ];
}

function countsOf(records: readonly SourceRecord[]): ImportFindings['counts'] {
  const counts = Object.fromEntries(sections.map((section) => [section, 0]));
  for (const { section } of records) counts[section] = (counts[section] ?? 0) + 1;
  return counts;
}
