/**
 * What one kind of finding says, in both languages, with holes such as `{path}` for what was found. Pure.
 *
 * The holes are part of the type: a finding that leaves one open does not compile.
 */
export type Bilingual = readonly [en: string, ja: string];

export interface FindingRow {
  /** `fail` keeps doors from working as they should; `warn` is a risk somebody should know. */
  readonly state: 'ok' | 'warn' | 'fail';
  readonly says: Bilingual;
  /** Empty where nothing needs doing. */
  readonly remedy: Bilingual;
}

const nothing = ['', ''] as const;

export const fine = <const Says extends Bilingual>(says: Says) => ({ state: 'ok', says, remedy: nothing }) as const;
export const risky = <const Says extends Bilingual, const Remedy extends Bilingual>(says: Says, remedy: Remedy) =>
  ({ state: 'warn', says, remedy }) as const;
export const broken = <const Says extends Bilingual, const Remedy extends Bilingual>(says: Says, remedy: Remedy) =>
  ({ state: 'fail', says, remedy }) as const;

type HolesIn<Text extends string> = Text extends `${string}{${infer Hole}}${infer Rest}` ? Hole | HolesIn<Rest> : never;

/** The names of the holes of a row. */
export type Holes<Row extends FindingRow> = HolesIn<Row['says'][number] | Row['remedy'][number]>;

/** @returns the text with each hole filled. */
export const fill = (text: string, value: (hole: string) => string): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, hole: string) => value(hole));
