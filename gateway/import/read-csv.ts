/** An import set as a folder of CSV files, one per section, named after it. */

import { gatherSchedules } from './csv-schedules.ts';
import { cellValue, csvColumns, putAt } from './csv-shape.ts';
import { type CsvRow, parseCsv } from './csv-table.ts';
import type { ImportIssues, SourcePlace } from './import-issue.ts';
import { isSection, type Section, sections } from './section.ts';
import type { SourceFile, SourceRecord } from './source-record.ts';

export function readCsv(files: readonly SourceFile[], issues: ImportIssues): readonly SourceRecord[] {
  return files.flatMap((file) => {
    const section = file.name.replace(/\.csv$/, '');
    if (isSection(section)) return readFile(file, section, issues);
    const names = sections.map((name) => `${name}.csv`).join(', ');
    const place = { file: file.name, line: 1, row: 'whole file' };
    issues.add({ place, field: '', rule: `is not a file of an import set; they are ${names}`, example: '' });
    issues.markPartial(sections);
    return [];
  });
}

function readFile({ name, text }: SourceFile, section: Section, issues: ImportIssues): readonly SourceRecord[] {
  const table = parseCsv(text);
  if (table.kind === 'broken') {
    issues.add({
      place: { file: name, line: table.line, row: 'whole file' },
      field: '',
      rule: table.problem,
      example: '',
    });
    issues.markPartial([section]);
    return [];
  }
  const headerPlace = { file: name, line: 1, row: 'header' };
  if (!isHeaderRight(table.header, section, { place: headerPlace, issues })) {
    issues.markPartial([section]);
    return [];
  }
  const records: SourceRecord[] = [];
  for (const [index, row] of table.rows.entries()) {
    const place = { file: name, line: row.line, row: `row ${index + 1}` };
    const value = rowValue(row, table.header, section);
    if (value !== undefined) records.push({ section, place, value });
    else {
      const rule = `has ${row.cells.length} cells, the header ${table.header.length}`;
      issues.add({ place, field: '', rule, example: '' });
      issues.markPartial([section]);
    }
  }
  return section === 'schedules' ? gatherSchedules(records) : records;
}

function isHeaderRight(
  header: readonly string[],
  section: Section,
  { place, issues }: { readonly place: SourcePlace; readonly issues: ImportIssues },
): boolean {
  const known = Object.keys(csvColumns[section]);
  const wrong = header.filter((column, index) => !known.includes(column) || header.indexOf(column) !== index);
  for (const column of wrong) {
    const rule = known.includes(column) ? 'stands twice in the header' : 'is not a known column';
    issues.add({ place, field: column === '' ? '(no name)' : column, rule, example: known.join(',') });
  }
  return wrong.length === 0;
}

function rowValue({ cells }: CsvRow, header: readonly string[], section: Section): unknown {
  if (cells.length !== header.length) return undefined;
  const row: Record<string, unknown> = {};
  for (const [index, column] of header.entries()) {
    const text = cells[index] ?? '';
    const kind = csvColumns[section][column];
    if (text !== '' && kind !== undefined) putAt(row, column, cellValue(kind, text));
  }
  return row;
}
