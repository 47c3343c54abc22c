/** The simulated site of the demonstration: read, and opened on its usual ports or on free ones. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
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

/** @param onPortsTaken told when another program has one of the usual ports. */
export async function openDemoSite(home: DemoHome, site: Site, onPortsTaken: () => void): Promise<RunningSite> {
  const wanted = site.lines.flatMap(({ wire }) => ('port' in wire ? [wire.port] : []));
  const areFree = (await Promise.all(wanted.map(isFree))).every(Boolean);
  if (!areFree) onPortsTaken();
  const lines = areFree ? site.lines : site.lines.map((line) => ({ ...line, wire: { port: 0 } }));
  const env = withCompileCache(home);
  return await openSite({ site: { ...site, lines }, stateDir: home.siteDir, baseDir: home.dir, env });
}

function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const probe = createServer();
    probe.once('error', () => done(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => done(true)));
  });
}
