/** What a call that never got an answer died of, by the codes that Node, OpenSSL and the HTTP client give. */
import type { CallFailure } from './call-failure.ts';

const dnsCodes = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA', 'EAI_NONAME', 'EAI_FAIL']);

/** Of a certificate that does not verify, each in its own words. */
const tlsWords: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is of an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate is of an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT: 'the certificate is of an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate is of an unknown authority',
  CERT_REVOKED: 'the certificate was revoked',
};

export function failureOfError(error: Error): { readonly why: CallFailure; readonly detail: string } {
  const code = codeOf(error);
  if (dnsCodes.has(code)) return { why: 'dns', detail: `the name does not resolve (${code})` };
  const words = tlsWords[code];
  if (words !== undefined) return { why: 'tls', detail: `${words} (${code})` };
  if (code.startsWith('ERR_TLS') || code.startsWith('ERR_SSL') || code === 'EPROTO' || code.startsWith('CERT_'))
    return { why: 'tls', detail: `TLS failed (${code})` };
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return { why: 'malformed', detail: 'the answer is too long' };
  return { why: 'unreachable', detail: code === '' ? error.message : code };
}

/** The code of the error, or of what caused it. */
function codeOf(error: Error): string {
  if ('code' in error && typeof error.code === 'string') return error.code;
  if (error.cause instanceof Error) return codeOf(error.cause);
  return error.name === 'TimeoutError' ? 'no answer in time' : '';
}

/**
 * @param header seconds, or a date (RFC 9110, section 10.2.3). @param now wall time, ms.
 * @returns milliseconds, at most an hour.
 */
export function retryAfterMs(header: string | string[] | undefined, now: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), 3_600_000);
}
