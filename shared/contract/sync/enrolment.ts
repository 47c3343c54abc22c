/**
 * How a gateway joins a facility: one code, typed once, by which both sides know each other from then on.
 *
 * The code carries the fingerprint of the cloud's offline root, so that the gateway needs to trust nobody it meets on the
 * way; the proof shows the cloud that the door process that made the keys knew the code. An operator then compares the
 * door process's fingerprint before anything secret is given to it.
 */
import * as z from 'zod';
import { idSchema } from '../identifier.ts';
import { bytesSchema, cursorSchema, epochSchema, gatewayId, hashSchema, jwsSchema, wallSchema } from './statement.ts';

/** Signed by the door process with the key it names. `code`: HMAC-SHA-256 under the code's secret over the three keys. */
export const enrolmentProofStatement = z.strictObject({
  codeId: z.string().regex(/^[0-9A-HJKMNP-TV-Z]{8}$/),
  code: hashSchema,
  doorSignKey: bytesSchema(32),
  doorSealKey: bytesSchema(32),
  edgeKey: bytesSchema(32),
  /** Of the journal that will be uploaded, and the key of its first head. */
  journalEpoch: epochSchema.min(1),
  journalFirstKey: bytesSchema(32),
});

export const enrolRequest = z.strictObject({
  proof: jwsSchema,
  hardware: z.string().min(1).max(128),
  version: z.string().max(64),
  /** Ids of the devices in the gateway's configuration, so that doors can be bound to what is there. */
  devices: z.array(idSchema<'device'>()).max(512),
});

export const enrolmentStatement = z.strictObject({
  gateway: gatewayId,
  facility: idSchema<'facility'>(),
  facilityName: z.string().max(120),
  /** SHA-256 over the door process's keys, as both sides show it. */
  doorFingerprint: hashSchema,
  /** Sealed to `doorSealKey`. */
  lookupKeySealed: z.string().max(512),
  cursor: cursorSchema,
  issuedAt: wallSchema,
});
/** `pending`: an operator has still to confirm the fingerprint; the same request is sent again until then. */
export const enrolReply = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('pending'), gateway: gatewayId }),
  z.strictObject({
    status: z.literal('enrolled'),
    enrolment: jwsSchema,
    /** Root's raw public key; its fingerprint is in the code. */
    root: bytesSchema(32),
    certificate: jwsSchema,
  }),
]);

/**
 * Claims of edge's own token, one per request: compact JWS of type `transport`, `aud` = `kannuki-cloud`, living at most
 * 60 s, sent as `authorization: Bearer …`.
 */
export const transportToken = z.strictObject({
  iss: gatewayId,
  aud: z.literal('kannuki-cloud'),
  iat: z.int(),
  exp: z.int(),
  jti: z.string().min(8).max(64),
  method: z.enum(['GET', 'POST']),
  /** Path with query. */
  path: z.string().max(2_048),
  /** SHA-256 of the body, of nothing where there is none. */
  body: hashSchema,
});

/** A card shown at a reader while an enrolment window is open; its bits are sealed to the cloud. */
export const cardRead = z.strictObject({
  window: idSchema<'window'>(),
  reader: idSchema<'reader'>(),
  sealed: z.string().max(1_024),
});
/** What is sealed, for the purpose `card read`: this as JSON. Bits as read, the first first. */
export const cardReadSecret = z.strictObject({ bits: z.string().regex(/^[01]{1,256}$/) });
