/**
 * The demonstration's facility, put into the cloud by its operator: times, doors, readers, people and their credentials.
 *
 * From the same file that a site without a cloud would import. The cloud draws PINs itself; they are kept in the
 * demonstration's folder, so that somebody can type them. Ended half-way it is done again, and nothing is there twice.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { ApiRefusal, type CloudApi } from './demo-api.ts';
import { type DemoHome, demoFacilityDir } from './demo-home.ts';

const row = z.looseObject({ id: z.string(), name: z.string() });
const facilityFile = z.object({
  facility: z.object({ name: z.string(), zone: z.string() }),
  schedules: z.array(row),
  holidays: z.array(row),
  doors: z.array(row),
  readers: z.array(row),
  holders: z.array(row),
  credentials: z.array(
    z.looseObject({
      id: z.string(),
      holder: z.string(),
      card: z.looseObject({}).optional(),
      pin: z.string().optional(),
      status: z.enum(['issued', 'revoked', 'suspended']).default('issued'),
      validUntil: z.iso.datetime({ offset: true }).optional(),
    }),
  ),
  grants: z.array(
    z.object({ credentials: z.array(z.string()), doors: z.array(z.string()), schedule: z.string().optional() }),
  ),
});
type FacilityFile = z.infer<typeof facilityFile>;
type Written = FacilityFile['credentials'][number];

/** A visitor's card lives by the cloud: a minute without it, and it opens nothing. */
const shortLease = { credential: 'noor-card', leaseMs: 60_000 };
/** A card that has ended must once have been valid: it ends soon after the set-up. */
const endsAfterMs = 30_000;

export function readDemoFacility(): FacilityFile {
  return facilityFile.parse(JSON.parse(readFileSync(join(demoFacilityDir, 'facility.json'), 'utf8')));
}

const pinsFile = (home: DemoHome): string => join(home.dir, 'pins.json');
const doneFile = (home: DemoHome): string => join(home.dir, 'set-up.json');

/** PINs that the cloud drew, by the credential's name in the file. */
export function readPins(home: DemoHome): Readonly<Record<string, string>> {
  return existsSync(pinsFile(home)) ? z.record(z.string(), z.string()).parse(parsed(pinsFile(home))) : {};
}

const parsed = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

export const hasSetUp = (home: DemoHome): boolean => existsSync(doneFile(home));

/** The facility is in the cloud and the gateway in the facility. */
export const finishSetUp = (home: DemoHome): void => writeFileSync(doneFile(home), '{}\n');

/** @throws ApiRefusal. */
export async function setUpFacility(home: DemoHome, api: CloudApi): Promise<void> {
  const file = readDemoFacility();
  for (const [path, rows] of [
    ['schedules', file.schedules],
    ['holidays', file.holidays],
    ['doors', file.doors],
    ['readers', file.readers],
    ['holders', file.holders],
  ] as const) {
    for (const thing of rows) await unlessThere(api.post(path, thing));
  }
  const ends = new Date(Date.now() + endsAfterMs).toISOString();
  for (const written of file.credentials) await issue(home, api, { file, written, ends });
}

/** A thing that an earlier, interrupted start has made. */
async function unlessThere(asked: Promise<unknown>): Promise<void> {
  try {
    await asked;
  } catch (error) {
    if (!(error instanceof ApiRefusal && error.code === 'ALREADY_EXISTS')) throw error;
  }
}

interface Issuing {
  readonly file: FacilityFile;
  readonly written: Written;
  readonly ends: string;
}

async function issue(home: DemoHome, api: CloudApi, { file, written, ends }: Issuing): Promise<void> {
  const { id, pin, status, validUntil, validFrom, ...rest } = written;
  const hasEnded = validUntil !== undefined && Date.parse(validUntil) < Date.now();
  const body = {
    ...rest,
    ...(pin === undefined ? {} : { pin: { digits: 6 } }),
    ...(hasEnded ? { validUntil: ends } : { validFrom, validUntil }),
    ...(id === shortLease.credential ? { leaseMs: shortLease.leaseMs } : {}),
    grants: file.grants
      .filter(({ credentials }) => credentials.includes(id))
      .flatMap(({ doors, schedule }) => doors.map((door) => ({ door, schedule }))),
  };
  const issued = await issuedOnce(api, body);
  if (issued === undefined) return;
  if (issued.secret?.pin !== undefined) keepPin(home, id, issued.secret.pin);
  const verb = { revoked: 'revoke', suspended: 'suspend', issued: undefined }[status];
  if (verb !== undefined) await api.post(`credentials/${issued.item.id}/${verb}`, {});
}

interface Issued {
  readonly item: { readonly id: string };
  readonly secret?: { readonly pin?: string };
}

async function issuedOnce(api: CloudApi, body: object): Promise<Issued | undefined> {
  try {
    return await api.post<Issued>('credentials', body);
  } catch (error) {
    if (error instanceof ApiRefusal && error.code === 'CARD_TAKEN') return undefined;
    throw error;
  }
}

function keepPin(home: DemoHome, credential: string, pin: string): void {
  const file = pinsFile(home);
  writeFileSync(`${file}.next`, `${JSON.stringify({ ...readPins(home), [credential]: pin })}\n`, { mode: 0o600 });
  renameSync(`${file}.next`, file);
}
