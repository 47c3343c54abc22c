/**
 * Statements that read rows, and believe no file: a torn page yields NULL, or text where a number was, even in a STRICT
 * table.
 *
 * Guarantees: a row that comes out has the shape it is declared with; anything else is STORE_DAMAGED, not a TypeError
 * somewhere later.
 */
import type { Store } from './open-database.ts';
import { StoreFault } from './store-fault.ts';

export type ColumnType = 'integer' | 'text' | 'blob' | 'text or null' | 'blob or null';
export type Shape<Row> = { readonly [Column in keyof Row]: ColumnType };

export interface Reader<Parameters extends unknown[], Row> {
  get(...parameters: Parameters): Row | undefined;
  all(...parameters: Parameters): Row[];
  iterate(...parameters: Parameters): Iterable<Row>;
}

export function prepareReader<Parameters extends unknown[], Row extends object>(
  store: Store,
  shape: Shape<Row>,
  sql: string,
): Reader<Parameters, Row> {
  const statement = store.prepare<unknown[], Row>(sql);
  const columns = Object.entries<ColumnType>(shape);
  function checked(row: Row): Row {
    const values = row as Readonly<Record<string, unknown>>;
    for (const [column, type] of columns) {
      if (hasType(values[column], type)) continue;
      throw new StoreFault('STORE_DAMAGED', store.name, `a row holds no ${type} as ${column}`);
    }
    return row;
  }
  return {
    get: (...parameters) => {
      const row = statement.get(...parameters);
      return row && checked(row);
    },
    all: (...parameters) => {
      const rows = statement.all(...parameters);
      for (const row of rows) checked(row);
      return rows;
    },
    *iterate(...parameters) {
      for (const row of statement.iterate(...parameters)) yield checked(row);
    },
  };
}

function hasType(value: unknown, type: ColumnType): boolean {
  switch (type) {
    case 'integer':
      return Number.isSafeInteger(value);
    case 'text':
      return typeof value === 'string';
    case 'blob':
      return value instanceof Uint8Array;
    case 'text or null':
      return value === null || typeof value === 'string';
    case 'blob or null':
      return value === null || value instanceof Uint8Array;
    default:
      return type satisfies never;
  }
}
