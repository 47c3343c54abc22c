/** One line of a check-up: what was looked at, how it is, and what to do about it. */
export interface DoctorFinding {
  readonly check: string;
  /** `fail` keeps doors from working as they should; `warn` is a risk somebody should know. */
  readonly state: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  /** Empty where nothing needs doing. */
  readonly remedy: string;
}

/** What to do where this user may not look. */
export const asGateway = 'run this as the gateway’s user, or as root';

export const fine = (check: string, detail: string): DoctorFinding => ({ check, state: 'ok', detail, remedy: '' });
export const risky = (check: string, detail: string, remedy: string): DoctorFinding => ({
  check,
  state: 'warn',
  detail,
  remedy,
});
export const broken = (check: string, detail: string, remedy: string): DoctorFinding => ({
  check,
  state: 'fail',
  detail,
  remedy,
});
