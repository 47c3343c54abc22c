/**
 * The terminal of the demonstration: lines scroll by, the picture of the doors stays below them.
 *
 * Without a terminal the lines come alone, without colour and without a picture: then a program or a file reads them.
 */
export interface Screen {
  line(text: string): void;
  /** Draws the picture anew; given no lines, removes it. */
  picture(lines: readonly string[]): void;
  readonly isTty: boolean;
  readonly width: () => number;
}

export function openScreen(stream: NodeJS.WriteStream): Screen {
  const isTty = stream.isTTY === true;
  let drawn: readonly string[] = [];
  const erase = () => (drawn.length > 0 ? `\x1b[${drawn.length}A\x1b[J` : '');
  const drawing = () => drawn.map((text) => `${text}\n`).join('');
  return {
    isTty,
    width: () => stream.columns ?? 80,
    line: (text) => void stream.write(isTty ? `${erase()}${text}\n${drawing()}` : `${text}\n`),
    picture: (lines) => {
      if (!isTty || lines.join('\n') === drawn.join('\n')) return;
      const before = erase();
      drawn = lines;
      stream.write(`${before}${drawing()}`);
    },
  };
}
