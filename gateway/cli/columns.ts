/** Text in columns, where a Japanese character takes two. */

const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/;

/** The text, padded so that what follows it stands in one column; at least one space follows. */
export function padColumns(text: string, columns: number): string {
  const taken = [...text].reduce((sum, character) => sum + (wide.test(character) ? 2 : 1), 0);
  return text + ' '.repeat(Math.max(1, columns - taken));
}
