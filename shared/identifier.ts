/**
 * Ids are opaque text of one shape, branded so that a door's id cannot stand where a holder's belongs.
 */
declare const tag: unique symbol;
export type Identifier<Of extends string> = string & { readonly [tag]: Of };

export type DoorId = Identifier<'door'>;
export type ReaderId = Identifier<'reader'>;
export type LineId = Identifier<'line'>;
export type DeviceId = Identifier<'device'>;
export type HolderId = Identifier<'holder'>;
export type CredentialId = Identifier<'credential'>;
export type GrantId = Identifier<'grant'>;
export type ScheduleId = Identifier<'schedule'>;
/** Follows one request through decision, release and everything after it; also names an operator's command. */
export type RequestId = Identifier<'request'>;

/** 1–64 of `a–z A–Z 0–9 . _ -`, beginning with a letter or digit. */
export const identifierPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Brands a text that has already been checked, or was made by us. */
export const identifier = <Of extends string>(text: string): Identifier<Of> => text as Identifier<Of>;
