/** Why a call to the cloud came to nothing. Each is told apart, since each wants another remedy. */
export type CallFailure =
  /** The name does not resolve. */
  | 'dns'
  /** No way there, refused, reset or no answer in time. */
  | 'unreachable'
  /** The certificate does not verify; verification is never switched off. */
  | 'tls'
  /** Somebody else answered: a page where JSON was due. */
  | 'captive-portal'
  /** 401, and the token's time is not the cloud's. */
  | 'clock-skewed'
  /** 401 otherwise. */
  | 'unauthorized'
  /** 403: this gateway is no longer one of the facility's. */
  | 'revoked'
  /** 409: what was sent does not follow. Door was given the answer, and sends something else next time. */
  | 'conflict'
  /** 413: half as much next time. */
  | 'too-large'
  /** 429 or 503, with the time to wait if it was named. */
  | 'busy'
  /** 5xx otherwise. */
  | 'cloud-fault'
  /** An answer that is none: of a wrong shape, or door refused the statement in it. */
  | 'malformed'
  /** The door process did not answer; the cloud is not to blame. */
  | 'door-away';

/** These say nothing about the way to the cloud. */
export const isOwnTrouble = (why: CallFailure): boolean =>
  why === 'conflict' || why === 'too-large' || why === 'door-away';

/** These are over as soon as any call comes through. */
export const isOfTheWay = (why: CallFailure): boolean =>
  why === 'dns' || why === 'unreachable' || why === 'tls' || why === 'captive-portal' || why === 'door-away';
