/** Edge's own word for one request: this method, this path, this body, within a minute. */
import { hash, type KeyObject, randomUUID } from 'node:crypto';
import { statementType } from '#shared/contract/sync/statement.ts';
import { signStatement } from '#shared/signed-statement.ts';

export interface TokenFor {
  readonly gateway: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body: Uint8Array | undefined;
  /** Wall time as the cloud has it, ms. */
  readonly at: number;
}

const lifeS = 50;
const noBody = new Uint8Array();

/** @returns the value of the `authorization` header. */
export async function transportToken(key: KeyObject, { gateway, method, path, body, at }: TokenFor): Promise<string> {
  const iat = Math.floor(at / 1_000);
  const claims = {
    iss: gateway,
    aud: 'kannuki-cloud',
    iat,
    exp: iat + lifeS,
    jti: randomUUID(),
    method,
    path,
    body: hash('sha256', body ?? noBody, 'hex'),
  };
  return `Bearer ${await signStatement(statementType.transport, claims, key)}`;
}
