/** The parts of an import set, in the order in which they are read. */
export const sections = [
  'facility',
  'schedules',
  'holidays',
  'doors',
  'readers',
  'holders',
  'credentials',
  'grants',
] as const;
export type Section = (typeof sections)[number];

export function isSection(name: string): name is Section {
  return (sections as readonly string[]).includes(name);
}
