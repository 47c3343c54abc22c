/** The simulated site of the demonstration: read, and opened on its usual ports or on free ones. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSite, type RunningSite } from '#gateway/simulator/open-site.ts';
import { parseSite } from '#gateway/simulator/parse-site.ts';
import type { Site } from '#gateway/simulator/site-file.ts';
import { invariant } from '#shared/invariant.ts';
import { type DemoHome, demoFacilityDir } from './demo-home.ts';

export function readDemoSite(): Site {
  const parsed = parseSite(readFileSync(join(demoFacilityDir, 'site.yaml'), 'utf8'));
  invariant(parsed.kind === 'site', 'the demonstration’s own site file is right');
  return parsed.site;
}

/** @param onPortsTaken told when another program has one of the usual ports. */
export async function openDemoSite(home: DemoHome, site: Site, onPortsTaken: () => void): Promise<RunningSite> {
  const open = (chosen: Site) => openSite({ site: chosen, stateDir: home.siteDir, baseDir: home.dir });
  try {
    return await open(site);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes('EADDRINUSE')) throw error;
    onPortsTaken();
    return await open({ ...site, lines: site.lines.map((line) => ({ ...line, wire: { port: 0 } })) });
  }
}
