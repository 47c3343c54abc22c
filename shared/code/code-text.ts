/** What every code says: in both languages, with what a person can do, and the status where it leaves over HTTP. */
export interface CodeText {
  readonly en: string;
  readonly ja: string;
  readonly remedyEn: string;
  readonly remedyJa: string;
  readonly http: number;
}

type Bilingual = readonly [en: string, ja: string];

export const text = (says: Bilingual, remedy: Bilingual, http = 422): CodeText => ({
  en: says[0],
  ja: says[1],
  remedyEn: remedy[0],
  remedyJa: remedy[1],
  http,
});
