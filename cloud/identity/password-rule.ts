/** Which passwords are taken. Pure. */
const lengthMin = 12;
export const passwordLengthMax = 128;

/** Beginnings of the long ones that everybody tries first. */
const wellKnown = [
  'password',
  'passw0rd',
  'qwertyuiop',
  'iloveyou',
  '123456789012',
  'administrator',
  'letmein',
  'kannuki',
];

/** Whether it is long enough, of more than a few signs, not well known and not the address itself. */
export function isAcceptablePassword(password: string, email: string): boolean {
  if (password.length < lengthMin || password.length > passwordLengthMax) return false;
  const lower = password.toLowerCase();
  if (new Set(lower).size < 5) return false;
  const [name = ''] = email.toLowerCase().split('@');
  const banned = name.length >= 4 ? [...wellKnown, name] : wellKnown;
  return !banned.some((word) => lower.replaceAll(word, '').length < lengthMin / 2);
}
