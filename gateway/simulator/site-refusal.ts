/** Why a call was not done. */
export class SiteRefusal extends Error {
  readonly code: 'BAD_REQUEST' | 'NOT_FOUND' | 'CLOSED';

  constructor(code: SiteRefusal['code'], detail: string) {
    super(detail);
    this.code = code;
  }
}
