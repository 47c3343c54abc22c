/** Packs rows into pieces that each fit into one signed statement. */
export interface Packer {
  readonly add: (row: string) => Promise<void>;
  /** @returns how many pieces there are; at least one. */
  readonly finish: () => Promise<number>;
}

/** A piece stays below the limit of a signed text, whose payload grows by a third. */
const pieceBytesMax = 300 * 1_024;
const pieceRowsMax = 2_000;

export function createPacker(write: (place: number, rows: string) => Promise<unknown>): Packer {
  let [rows, bytes, count]: [string[], number, number] = [[], 0, 0];
  async function flush(): Promise<void> {
    const piece = `[${rows.join(',')}]`;
    const place = count;
    [rows, bytes, count] = [[], 0, count + 1];
    await write(place, piece);
  }
  return {
    add: async (row) => {
      const size = Buffer.byteLength(row) + 1;
      if (rows.length >= pieceRowsMax || (rows.length > 0 && bytes + size > pieceBytesMax)) await flush();
      rows.push(row);
      bytes += size;
    },
    finish: async () => {
      if (rows.length > 0 || count === 0) await flush();
      return count;
    },
  };
}
