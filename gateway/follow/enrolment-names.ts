/** Under which names an enrolment lies sealed in site.db. */
import type { Site } from '../site/site-store.ts';

export const enrolmentNames = {
  sign: 'cloud/sign-key',
  seal: 'cloud/seal-key',
  enrolment: 'cloud/enrolment',
  pending: 'cloud/pending',
  lookup: 'cloud/lookup-key',
} as const;

/** Whether this gateway belongs to a cloud. */
export const isEnrolled = (site: Pick<Site, 'keyNames'>): boolean => site.keyNames().includes(enrolmentNames.enrolment);
