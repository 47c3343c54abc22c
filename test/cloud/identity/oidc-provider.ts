/**
 * A small OpenID provider as a process of its own, over HTTP: `node oidc-provider.ts <client id> <client secret>`.
 *
 * Says its issuer on standard output. Whoever asks `/authorize` is at once the person named by the query that a test put
 * there (`as=`, in place of a person who types), and comes back with a code. `/misbehave?how=…` makes the next ID token wrong.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

const [clientId = '', clientSecret = ''] = process.argv.slice(2);
const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
const stranger = await generateKeyPair('ES256', { extractable: true });
const jwk = { ...(await exportJWK(publicKey)), kid: 'one', use: 'sig', alg: 'ES256' };

interface Code {
  readonly nonce: string;
  readonly challenge: string;
  readonly person: Readonly<Record<string, unknown>>;
}
const codes = new Map<string, Code>();
let misbehaviour = '';
let issuer = '';

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return new URLSearchParams(text);
}

function authorize(url: URL, response: ServerResponse): void {
  const query = Object.fromEntries(url.searchParams);
  const isAsked = query['client_id'] === clientId && query['response_type'] === 'code';
  if (!isAsked || query['code_challenge_method'] !== 'S256') {
    send(response, 400, { error: 'invalid_request' });
    return;
  }
  const code = randomBytes(16).toString('hex');
  const person = JSON.parse(query['as'] ?? '{}');
  codes.set(code, { nonce: query['nonce'] ?? '', challenge: query['code_challenge'] ?? '', person });
  const back = new URL(query['redirect_uri'] ?? '');
  back.searchParams.set('code', code);
  back.searchParams.set('state', query['state'] ?? '');
  response.writeHead(302, { location: back.href }).end();
}

/** Both halves come form-encoded. */
function isClient(authorization = ''): boolean {
  const text = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString('utf8');
  const halves = text.split(':').map((half) => decodeURIComponent(half.replaceAll('+', ' ')));
  return halves[0] === clientId && halves[1] === clientSecret;
}

async function token(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await bodyOf(request);
  const known = codes.get(body.get('code') ?? '');
  codes.delete(body.get('code') ?? '');
  const verifier = body.get('code_verifier') ?? '';
  const isProven = known?.challenge === createHash('sha256').update(verifier).digest('base64url');
  if (!isClient(request.headers.authorization) || !known || !isProven) {
    send(response, 400, { error: 'invalid_grant' });
    return;
  }
  send(response, 200, { token_type: 'Bearer', access_token: 'unused', id_token: await idToken(known) });
}

async function idToken({ nonce, person }: Code): Promise<string> {
  const how = misbehaviour;
  misbehaviour = '';
  const now = Math.floor(Date.now() / 1000);
  const claims = { ...person, nonce: how === 'nonce' ? 'another' : nonce };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .setIssuer(how === 'issuer' ? 'http://127.0.0.1:1' : issuer)
    .setAudience(how === 'audience' ? 'another client' : clientId)
    .setIssuedAt(how === 'expired' ? now - 7_200 : now)
    .setExpirationTime(how === 'expired' ? now - 3_600 : now + 300)
    .sign(how === 'key' ? stranger.privateKey : privateKey);
}

async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', issuer);
  switch (url.pathname) {
    case '/.well-known/openid-configuration':
      send(response, 200, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/keys`,
      });
      break;
    case '/keys':
      send(response, 200, { keys: [jwk] });
      break;
    case '/authorize':
      authorize(url, response);
      break;
    case '/token':
      await token(request, response);
      break;
    case '/misbehave':
      misbehaviour = url.searchParams.get('how') ?? '';
      send(response, 200, {});
      break;
    default:
      send(response, 404, {});
  }
}

const server = createServer((request, response) => void route(request, response));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  issuer = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
  console.log(issuer);
});
process.on('disconnect', () => process.exit(0));
process.stdin.on('end', () => process.exit(0)).resume();
