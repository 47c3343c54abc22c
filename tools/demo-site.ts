/** The simulated site of the demonstration: read, and opened. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSite, type RunningSite } from '#gateway/simulator/open-site.ts';
import { parseSite } from '#gateway/simulator/parse-site.ts';
import type { Site } from '#gateway/simulator/site-file.ts';
import { invariant } from '#shared/invariant.ts';
import { type DemoHome, demoFacilityDir, withCompileCache } from './demo-home.ts';

export function readDemoSite(): Site {
  const parsed = parseSite(readFileSync(join(demoFacilityDir, 'site.yaml'), 'utf8'));
  invariant(parsed.kind === 'site', 'the demonstration’s own site file is right');
  return parsed.site;
}

/** On free ports: another demonstration, or a gateway left running, keeps its own. */
export async function openDemoSite(home: DemoHome, site: Site, lineProgram: string): Promise<RunningSite> {
  const lines = site.lines.map((line) => ({ ...line, wire: { port: 0 } }));
  const env = withCompileCache(home);
  return await openSite({ site: { ...site, lines }, stateDir: home.siteDir, baseDir: home.dir, env, lineProgram });
}
