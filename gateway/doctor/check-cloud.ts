/** What a running gateway says of its way to the cloud, as findings. */
import { uplinkWords } from '../cli/cloud-words.ts';
import type { CloudStatus } from '../control/sync-replies.ts';
import { type DoctorFinding, finding, inBoth } from './finding.ts';

const certificateSoonMs = 30 * 86_400_000;

/** @param at the machine's wall clock, ms. */
export function checkCloud(cloud: CloudStatus, at: number): readonly DoctorFinding[] {
  return [checkUplink(cloud), checkCertificate(cloud, at), ...checkRefused(cloud)];
}

/** How the way to the cloud failed, where more can be said of it than that it did. */
const toldFailures = {
  starting: 'cloud-starting',
  busy: 'cloud-starting',
  silent: 'cloud-silent',
  dns: 'cloud-dns',
  unreachable: 'cloud-unreachable',
  tls: 'cloud-tls',
  'captive-portal': 'cloud-captive-portal',
  'clock-skewed': 'cloud-clock-skewed',
  unauthorized: 'cloud-unauthorized',
  revoked: 'cloud-revoked',
} as const;

const isTold = (uplink: string): uplink is keyof typeof toldFailures => Object.hasOwn(toldFailures, uplink);

function checkUplink(cloud: CloudStatus): DoctorFinding {
  const { uplink, cursor, lag, entriesBehind } = cloud;
  if (uplink === 'online') return finding(['cloud'], 'cloud-online', { cursor, lag, behind: entriesBehind });
  const how = inBoth((language) => uplinkWords(cloud, language));
  return finding(['cloud'], isTold(uplink) ? toldFailures[uplink] : 'cloud-fault', { how });
}

function checkCertificate({ certificate }: CloudStatus, at: number): DoctorFinding {
  const until = new Date(certificate.notAfter).toISOString().slice(0, 10);
  const values = { serial: certificate.serial, until };
  if (certificate.notAfter <= at) return finding(['feed-key'], 'feed-key-ended', values);
  const isSoon = certificate.notAfter - at < certificateSoonMs;
  return finding(['feed-key'], isSoon ? 'feed-key-ends-soon' : 'feed-key-fine', values);
}

/** Replays and races are refused in peace; what nobody signed is not. */
function checkRefused({ refused }: CloudStatus): readonly DoctorFinding[] {
  const forged = ['wrong-signature', 'wrong-type', 'wrong-shape', 'malformed'].filter((reason) => refused[reason]);
  if (forged.length === 0) return [];
  const reasons = forged.map((reason) => `${reason} ${refused[reason]}`).join(', ');
  return [finding(['statements'], 'statements-refused', { reasons })];
}
