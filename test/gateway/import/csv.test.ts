import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseCsv } from '#gateway/import/csv-table.ts';
import { type ImportOutcome, importFacility } from '#gateway/import/import-facility.ts';
import type { SourceFile } from '#gateway/import/source-record.ts';
import { asJson, writtenSet } from '../../fakes/import-files.ts';
import { testLookupKey } from '../../fakes/sample-facility.ts';

const examples = new URL('../../../docs/examples/', import.meta.url);
const read = (folder: string, ending: string): readonly SourceFile[] =>
  readdirSync(new URL(folder, examples))
    .filter((name) => name.endsWith(ending))
    .map((name) => ({ name, text: readFileSync(new URL(`${folder}/${name}`, examples), 'utf8') }));
const importFiles = (files: readonly SourceFile[], isDryRun = false): Promise<ImportOutcome> =>
  importFacility({ files, lookupKey: testLookupKey, isDryRun });

test('the example set is without mistakes, and one facility whether written as JSON or as CSV', async () => {
  const [json, csv] = [await importFiles(read('.', '.json')), await importFiles(read('facility', '.csv'))];
  expect(json.findings.errors).toEqual([]);
  expect(csv.findings.errors).toEqual([]);
  if (json.kind !== 'ready' || csv.kind !== 'ready') throw new Error('not ready');
  const withoutSalt = ({ rows }: typeof json) => ({
    ...rows,
    facility: { ...rows.facility, pinSalt: '' },
    credentials: rows.credentials.map((row) => (row.kind === 'pin' ? { ...row, lookup: '' } : row)),
  });
  expect(withoutSalt(csv)).toEqual(withoutSalt(json));
  expect(csv.findings.warnings).toEqual(json.findings.warnings);
});

describe('a table', () => {
  test('is read with quotes, doubled quotes, commas and lines inside cells, CRLF and a byte order mark', () => {
    const text = '\uFEFFid,name\r\n1,"a, b"\r\n\r\n2,"say ""x"""\n3,"two\nlines"\n4, spaced \n5,';
    expect(parseCsv(text)).toEqual({
      kind: 'table',
      header: ['id', 'name'],
      rows: [
        { line: 2, cells: ['1', 'a, b'] },
        { line: 4, cells: ['2', 'say "x"'] },
        { line: 5, cells: ['3', 'two\nlines'] },
        { line: 7, cells: ['4', 'spaced'] },
        { line: 8, cells: ['5', ''] },
      ],
    });
  });

  test.each([
    ['a quote that is never closed', 'id\n"a\nb', 2, /never closed/],
    ['text after a closing quote', 'id\n"a"b', 2, /after a closing quote/],
    ['a quote inside a cell', 'id\na"b"', 2, /quote inside/],
    ['nothing at all', '', 1, /no header/],
  ])('is refused with its line: %s', (_, text, line, problem) => {
    expect(parseCsv(text)).toEqual({ kind: 'broken', line, problem: expect.stringMatching(problem) });
  });

  test('gives back every cell that was written into it', () => {
    const cell = fc.string({ unit: 'grapheme-composite' });
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
    fc.assert(
      fc.property(fc.array(fc.array(cell, { minLength: 2, maxLength: 5 }), { minLength: 1, maxLength: 6 }), (rows) => {
        const table = parseCsv(rows.map((row) => row.map(quoted).join(',')).join('\n'));
        if (table.kind === 'broken') throw new Error(table.problem);
        expect([table.header, ...table.rows.map(({ cells }) => cells)]).toEqual(rows);
      }),
    );
  });
});

describe('a mistake in CSV is told with its file and line', () => {
  const files = (changes: Readonly<Record<string, string>>): readonly SourceFile[] =>
    Object.entries({
      facility: 'id,name,zone\nhall,Hall,Asia/Tokyo\n',
      doors: 'id,name,lock.device,lock.output\nfront,Front,io,0\n',
      readers: 'id,name,door,device\nfront-out,Front,front,reader\n',
      ...changes,
    }).map(([name, text]) => ({ name: `${name}.csv`, text }));

  test.each([
    [
      'a column nobody knows',
      { doors: 'id,name,colour\nfront,Front,red\n' },
      /^doors\.csv line 1 \(header\): colour is not a known column, for example id,name,lock\.device/,
    ],
    ['a column that stands twice', { doors: 'id,id\na,b\n' }, /^doors\.csv line 1 \(header\): id stands twice/],
    [
      'too many cells',
      { doors: 'id,name\nfront,Front,io\n' },
      /^doors\.csv line 2 \(row 1\): has 3 cells, the header 2/,
    ],
    [
      'a number that is none',
      { doors: 'id,name,lock.device,lock.output,strikeMs\nfront,Front,io,0,5s\n' },
      /^doors\.csv line 2 \(row 1\): strikeMs must be of type number, for example 5000\.$/,
    ],
    [
      'a yes that is neither true nor false',
      { doors: 'id,name,lock.device,lock.output,relockOnOpen\nfront,Front,io,0,yes\n' },
      /relockOnOpen must be of type boolean/,
    ],
    [
      'a schedule that is not there',
      { doors: 'id,name,lock.device,lock.output,escort\nfront,Front,io,0,night\n' },
      /escort names no schedule: night/,
    ],
    [
      'a day that is none',
      { schedules: 'id,name,days,from,until\nx,X,mon-fry,08:00,09:00\n' },
      /^schedules\.csv line 2 \(row 1\): weekly\[0\]\.days\[0\] must be "mon"/,
    ],
    [
      'a quote that is never closed',
      { doors: 'id,name\nfront,"Front\n' },
      /^doors\.csv line 2 \(whole file\): has a quote that is never closed/,
    ],
  ])('%s', async (_, changes, expected) => {
    const { findings } = await importFiles(files(changes));
    expect(findings.errors.filter((error) => expected.test(error))).toHaveLength(1);
  });
});

test('no text, however damaged, does more than be refused', async () => {
  const [json] = asJson(writtenSet());
  const originals = [json as SourceFile, ...read('facility', '.csv')];
  const damaged = fc.record({
    file: fc.nat(originals.length - 1),
    cuts: fc.array(fc.record({ at: fc.nat(), length: fc.nat(12), text: fc.string({ maxLength: 4 }) }), {
      maxLength: 6,
    }),
  });
  const numRuns = process.env['KANNUKI_FULL'] === '1' ? 100_000 : 600;
  await fc.assert(
    fc.asyncProperty(damaged, async ({ file, cuts }) => {
      const { name, text } = originals[file] as SourceFile;
      const cut = cuts.reduce((rest, { at, length, text: put }) => {
        const from = at % (rest.length + 1);
        return rest.slice(0, from) + put + rest.slice(from + length);
      }, text);
      const { findings } = await importFiles([{ name, text: cut }], true);
      for (const error of findings.errors) expect(error).toMatch(/line \d+|^and \d+ more/);
    }),
    { numRuns },
  );
});
