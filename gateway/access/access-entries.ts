/**
 * The entries of a request: what was presented, and what was decided with everything needed to explain it later.
 *
 * Ids, versions, windows and ages; never a card's bits, a PIN, or a name. Pure.
 */
import type { CanonicalValue } from '#shared/canonical.ts';
import type { WallMs } from '#shared/instant.ts';
import type { AccessRequest } from '../door/access-request.ts';
import { opensChallenge } from '../door/decide-access.ts';
import type { Decision } from '../door/decision.ts';
import type { ClockState, Facts } from '../door/facts.ts';
import { grantInForce } from '../door/time-rules.ts';
import type { EntryDraft } from '../journal/entry.ts';

export interface Stamp {
  readonly at: WallMs;
  readonly clockState: ClockState;
}

type Body = Record<string, CanonicalValue | undefined>;

/** @param stranger the beginning of an unknown card's lookup. */
export function requestedEntry(
  request: AccessRequest,
  decision: Decision,
  stamp: Stamp,
  stranger: string | undefined,
): EntryDraft {
  const { presented } = request;
  const body: Body = {
    device: request.device,
    head: request.head,
    reader: decision.reader,
    presented: presented.kind,
    bitCount: presented.kind === 'pin' ? undefined : presented.card.bitCount,
    stranger,
  };
  return { kind: 'access.requested', ...stamp, door: decision.door ?? null, requestId: request.requestId, body };
}

/** @param facts `undefined` where they could not be gathered. */
export function decidedEntry(
  request: AccessRequest,
  facts: Facts | undefined,
  decision: Decision,
  stamp: Stamp,
): EntryDraft {
  const kind =
    decision.verdict === 'granted'
      ? 'access.granted'
      : opensChallenge(decision)
        ? 'access.challenged'
        : 'access.refused';
  const body: Body = {
    code: decision.code,
    holder: decision.holder,
    credential: decision.credential,
    ...(decision.verdict === 'granted'
      ? { grant: decision.grant, flags: [...decision.flags], ms: decision.releaseMs }
      : { detail: decision.detail, isDuress: decision.isDuress || undefined }),
    ...(facts === undefined ? {} : evidence(request, facts)),
  };
  return { kind, ...stamp, door: decision.door ?? null, requestId: decision.requestId, body };
}

function evidence(request: AccessRequest, facts: Facts): Body {
  const { replica, clock, credential, door } = facts;
  const contact = replica.contactAgeMs;
  const grant = credential.kind === 'found' ? grantInForce(credential.grants, facts) : undefined;
  const now = clock.now;
  const window =
    grant === undefined || grant.windows === 'always' || now === undefined
      ? undefined
      : grant.windows.find(({ from, until }) => from <= now && now < until);
  return {
    ageMs: Math.round(facts.at - request.receivedAt + request.deviceAgeMs),
    replicaEpoch: replica.epoch,
    replicaCursor: replica.cursor,
    contactAgeMs: contact === 'unknown' ? null : Math.round(contact),
    clockErrorMs: Math.round(clock.errorMs),
    mode: door === undefined || door.mode === 'controlled' ? undefined : door.mode,
    credentialVersion: credential.kind === 'found' ? credential.row.version : undefined,
    leaseMs: credential.kind === 'found' ? credential.row.leaseMs : undefined,
    grantVersion: grant?.row.version,
    schedule: grant?.row.schedule ?? undefined,
    window: window === undefined ? undefined : [window.from, window.until],
  };
}
