/** The folder of a gateway that has been running: its configuration, keys, journal, and a replica of any size in force. */

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '#gateway/config.ts';
import { openHistory } from '#gateway/open-history.ts';
import { buildSnapshot, streamOf } from '#gateway/replica/build-snapshot.ts';
import { switchPointer } from '#gateway/replica/replica-folder.ts';
import { createRowCodes } from '#gateway/replica/row-mac.ts';
import { ownThreads } from '#gateway/threads.ts';
import { sampleFacility, testLookupKey } from '../fakes/sample-facility.ts';

export interface GatewayFolder {
  readonly configFile: string;
  readonly adminSocket: string;
}

export interface FolderPlan {
  readonly folder: string;
  readonly credentials: number;
  readonly doors: number;
  /** Serial port of the one line. */
  readonly port: string;
}

export async function prepareGatewayFolder(plan: FolderPlan): Promise<GatewayFolder> {
  const { folder, credentials, doors, port } = plan;
  const configFile = join(folder, 'gateway.yaml');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(configFile, configText(port));
  const config = loadConfig(configFile);
  const history = await openHistory(config, { entry: ownThreads.journal, onChange: () => {} });
  // The lookups of sample cards are made with the published key of tests.
  await history.site.sealKey('lookup-key', testLookupKey);
  await buildSnapshot({
    folder: config.dataDir,
    epoch: 1,
    cursor: 0,
    rows: streamOf(sampleFacility(credentials, doors)),
    codes: createRowCodes(history.rowKey),
  });
  switchPointer(config.dataDir, 1);
  await history.close();
  return { configFile, adminSocket: join(config.runDir, 'admin.sock') };
}

const configText = (port: string): string => `dataDir: data
runDir: run
clock: { ntp: assume }
lines:
  - serial: ${port}
    devices:
      - { id: device-0, address: 0 }
      - { id: device-1, address: 1 }
`;
