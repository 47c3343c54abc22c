/** The folder of a gateway that belongs to a cloud and holds all that the cloud gave it: what runs in it has nothing to do. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '#gateway/config.ts';
import { EnrolmentStore } from '#gateway/follow/enrolment-store.ts';
import { LookupKeeper } from '#gateway/follow/lookup-keeper.ts';
import { type History, openHistory } from '#gateway/open-history.ts';
import { buildSnapshot, streamOf } from '#gateway/replica/build-snapshot.ts';
import { switchPointer } from '#gateway/replica/replica-folder.ts';
import { createRowCodes } from '#gateway/replica/row-mac.ts';
import { ownThreads } from '#gateway/threads.ts';
import { keyCertificateStatement } from '#shared/contract/sync/statement.ts';
import { identifier } from '#shared/identifier.ts';
import { toBase64url } from '#shared/signed-statement.ts';
import { sampleFacility } from '../fakes/sample-facility.ts';
import { facility, gateway, type SigningCloud } from '../fakes/signing-cloud.ts';
import { benchCursor } from './b3-cloud.ts';
import type { GatewayFolder } from './b5-folder.ts';

export interface EnrolledPlan {
  readonly folder: string;
  readonly cloud: SigningCloud;
  readonly url: string;
  readonly credentials: number;
  /** What is there came from the cloud; otherwise the cloud will be asked for everything. */
  readonly isCurrent: boolean;
  readonly doors: number;
  /** Serial port of the one line, if there is one. */
  readonly port?: string;
}

export async function prepareEnrolledFolder(plan: EnrolledPlan): Promise<GatewayFolder> {
  const { folder, cloud, url, credentials, doors, isCurrent, port } = plan;
  const configFile = join(folder, 'gateway.yaml');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(configFile, configText(url, port));
  const config = loadConfig(configFile);
  const history = await openHistory(config, { entry: ownThreads.journal, onChange: () => {} });
  await enrolAt(history, cloud, isCurrent ? 0 : 1);
  await new LookupKeeper(history.site, history.lookupKey, undefined).keep(1, cloud.lookupKey);
  const rows = streamOf(sampleFacility(credentials, doors));
  const codes = createRowCodes(history.rowKey);
  await buildSnapshot({ folder: config.dataDir, epoch: 1, cursor: benchCursor, rows, codes });
  switchPointer(config.dataDir, 1);
  await history.close();
  return { configFile, adminSocket: join(config.runDir, 'admin.sock') };
}

async function enrolAt({ site, archive }: History, cloud: SigningCloud, sinceEpoch: number): Promise<void> {
  const store = new EnrolmentStore(site);
  await store.identity();
  const { firstEpoch, firstKey } = await archive.extent();
  const payload = (await cloud.certificate()).split('.')[1] ?? '';
  const enrolment = {
    gateway: identifier<'gateway'>(gateway),
    facility: identifier<'facility'>(facility),
    facilityName: 'Bench',
    root: cloud.rootKey,
    sinceEpoch,
    certificate: keyCertificateStatement.parse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))),
    journal: { epoch: firstEpoch, firstKey: toBase64url(firstKey) },
  };
  await store.enrol(enrolment, cloud.lookupKey);
}

const configText = (url: string, port: string | undefined): string => `dataDir: data
runDir: run
cloud: { url: "${url}" }
clock: { ntp: assume }
${
  port === undefined
    ? ''
    : `lines:
  - serial: ${port}
    devices:
      - { id: device-0, address: 0 }
      - { id: device-1, address: 1 }
`
}`;
