/** The configuration of the demonstration's gateway. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Site } from '#gateway/simulator/site-file.ts';
import type { Language } from '#shared/code.ts';
import type { LineId } from '#shared/identifier.ts';
import type { DemoHome } from './demo-home.ts';

interface FoundPorts {
  readonly lines: ReadonlyMap<LineId, number>;
  /** Of the link to the cloud. */
  readonly cloud: number;
}

/** Written at every start, since ports may differ. */
export function writeConfig(home: DemoHome, site: Site, found: FoundPorts, language: Language): void {
  const lines = site.lines.map((line) => ({
    id: line.id,
    tcp: `127.0.0.1:${found.lines.get(line.id)}`,
    baud: line.baud,
    devices: site.peripherals
      .filter((peripheral) => peripheral.line === line.id)
      .map(({ id, address, key }) => ({
        id,
        address,
        ...(typeof key === 'object' && 'file' in key ? { keyFile: key.file } : {}),
      })),
  }));
  const config = {
    dataDir: 'data',
    edgeDir: 'edge',
    cloud: { url: `http://127.0.0.1:${found.cloud}` },
    runDir: 'run',
    language,
    journal: { budgetMiB: 64 },
    clock: { ntp: 'assume' },
    lines,
  };
  for (const folder of ['data', 'edge', 'run']) mkdirSync(join(home.dir, folder), { recursive: true, mode: 0o700 });
  writeFileSync(home.configFile, `# Written by the demonstration at every start.\n${stringify(config)}`, {
    mode: 0o600,
  });
  chmodSync(home.configFile, 0o600);
}
