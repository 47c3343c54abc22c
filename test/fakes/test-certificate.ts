/** X.509 certificates for tests, made on the spot: DER by hand (RFC 5280), Ed25519 signatures (RFC 8410). */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

export interface TestCertificate {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
  readonly name: string;
  readonly privateKey: KeyObject;
}

export interface CertificateOf {
  readonly name: string;
  /** Names it is good for; an authority has none. */
  readonly hosts?: readonly string[];
  /** Default: itself. */
  readonly issuer?: TestCertificate;
  readonly notAfter?: Date;
}

const tlv = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  const length = body.length < 128 ? Buffer.of(body.length) : Buffer.of(0x82, body.length >> 8, body.length & 0xff);
  return Buffer.concat([Buffer.of(tag), length, body]);
};
const sequence = (...parts: readonly Uint8Array[]) => tlv(0x30, ...parts);
const oid = (...bytes: readonly number[]) => tlv(0x06, Buffer.from(bytes));
const ed25519 = sequence(oid(0x2b, 0x65, 0x70));
const distinguished = (name: string) =>
  sequence(tlv(0x31, sequence(oid(0x55, 0x04, 0x03), tlv(0x0c, Buffer.from(name)))));
const generalized = (date: Date) => tlv(0x18, Buffer.from(`${date.toISOString().replaceAll(/[-:T]|\.\d+/g, '')}`));
const extension = (id: Uint8Array, value: Uint8Array) => sequence(id, tlv(0x04, value));

function alternativeNames(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) =>
    /^[\d.]+$/.test(host) ? tlv(0x87, Buffer.from(host.split('.').map(Number))) : tlv(0x82, Buffer.from(host)),
  );
  return extension(oid(0x55, 0x1d, 0x11), sequence(...names));
}

export function createCertificate({ name, hosts, issuer, notAfter }: CertificateOf): TestCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const isAuthority = hosts === undefined;
  const basic = extension(oid(0x55, 0x1d, 0x13), sequence(...(isAuthority ? [tlv(0x01, Buffer.of(0xff))] : [])));
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.of(2))),
    tlv(0x02, Buffer.concat([Buffer.of(0x01), randomBytes(8)])),
    ed25519,
    distinguished(issuer?.name ?? name),
    sequence(generalized(new Date('2020-01-01')), generalized(notAfter ?? new Date('2099-01-01'))),
    distinguished(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(basic, ...(isAuthority ? [] : [alternativeNames(hosts)]))),
  );
  const signature = sign(null, body, issuer?.privateKey ?? privateKey);
  const der = sequence(body, ed25519, tlv(0x03, Buffer.concat([Buffer.of(0), signature])));
  const cert = `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
  return { cert, key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })), name, privateKey };
}
