/**
 * Comma-separated values as RFC 4180 has them: quotes around what holds commas, quotes or line ends, quotes doubled inside.
 *
 * Never throws. Lines end in LF or CRLF; a byte order mark is taken off; empty lines are passed over.
 */
export interface CsvRow {
  /** Line on which the row begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

export type CsvTable =
  | { readonly kind: 'table'; readonly header: readonly string[]; readonly rows: readonly CsvRow[] }
  | { readonly kind: 'broken'; readonly line: number; readonly problem: string };

export function parseCsv(text: string): CsvTable {
  const rows: CsvRow[] = [];
  const cursor = { at: text.startsWith('\uFEFF') ? 1 : 0, line: 1 };
  while (cursor.at < text.length) {
    const row = parseRow(text, cursor);
    if ('problem' in row) return { kind: 'broken', ...row };
    if (row.cells.length > 1 || row.cells[0] !== '') rows.push(row);
  }
  const [header, ...body] = rows;
  if (header === undefined) return { kind: 'broken', line: 1, problem: 'has no header' };
  return { kind: 'table', header: header.cells, rows: body };
}

interface Cursor {
  at: number;
  line: number;
}

interface Problem {
  readonly line: number;
  readonly problem: string;
}

function parseRow(text: string, cursor: Cursor): CsvRow | Problem {
  const { line } = cursor;
  const cells: string[] = [];
  for (;;) {
    const cell = text[cursor.at] === '"' ? quotedCell(text, cursor) : plainCell(text, cursor);
    if (typeof cell !== 'string') return cell;
    cells.push(cell);
    const sign = text[cursor.at];
    if (sign === ',') {
      cursor.at += 1;
      continue;
    }
    if (sign === '\r') cursor.at += 1;
    if (cursor.at < text.length && text[cursor.at] !== '\n')
      return { line: cursor.line, problem: 'has text after a closing quote' };
    cursor.at += 1;
    cursor.line += 1;
    return { line, cells };
  }
}

function plainCell(text: string, cursor: Cursor): string | Problem {
  const from = cursor.at;
  while (cursor.at < text.length && !',\n\r'.includes(text.charAt(cursor.at))) cursor.at += 1;
  const cell = text.slice(from, cursor.at).trim();
  return cell.includes('"') ? { line: cursor.line, problem: 'has a quote inside an unquoted cell' } : cell;
}

function quotedCell(text: string, cursor: Cursor): string | Problem {
  const { line } = cursor;
  let cell = '';
  cursor.at += 1;
  for (;;) {
    const end = text.indexOf('"', cursor.at);
    if (end < 0) return { line, problem: 'has a quote that is never closed' };
    const piece = text.slice(cursor.at, end);
    cursor.line += piece.split('\n').length - 1;
    cell += piece;
    cursor.at = end + 1;
    if (text[cursor.at] !== '"') return cell;
    cell += '"';
    cursor.at += 1;
  }
}
