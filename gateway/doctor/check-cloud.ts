/** What a running gateway says of its way to the cloud, as findings. */
import type { Language } from '#shared/code.ts';
import { uplinkWords } from '../cli/cloud-words.ts';
import type { CloudStatus } from '../control/sync-replies.ts';
import { broken, type DoctorFinding, fine, risky } from './finding.ts';

const remedies: Readonly<Record<string, string>> = {
  silent: 'start it: kannuki-gateway edge (unit kannuki-edge)',
  dns: 'check the name in cloud.url and this machine’s resolver',
  unreachable: 'check the network, the address in cloud.url and any firewall',
  tls: 'check the certificate of the cloud; where it is of your own authority, name it in cloud.caFile',
  'captive-portal': 'sign this network in, or use another one',
  'clock-skewed': 'nothing, if it passes by itself; otherwise set this machine’s clock',
  unauthorized: 'ask an operator whether this gateway is confirmed; otherwise enrol it again',
  revoked: 'enrol it again with a new code, if it should be in service',
};
const certificateSoonMs = 30 * 86_400_000;

/** @param at the machine's wall clock, ms. */
export function checkCloud(cloud: CloudStatus, at: number, language: Language): readonly DoctorFinding[] {
  return [checkUplink(cloud, language), checkCertificate(cloud, at), ...checkRefused(cloud)];
}

function checkUplink(cloud: CloudStatus, language: Language): DoctorFinding {
  const { uplink, cursor, lag, entriesBehind } = cloud;
  if (uplink === 'online')
    return fine('cloud', `online, at ${cursor}, ${lag} to come, ${entriesBehind} entries to send`);
  if (uplink === 'starting' || uplink === 'busy')
    return risky('cloud', uplinkWords(cloud, language), 'ask again in a moment');
  return broken('cloud', uplinkWords(cloud, language), remedies[uplink] ?? 'see the log of the edge process');
}

function checkCertificate({ certificate }: CloudStatus, at: number): DoctorFinding {
  const until = new Date(certificate.notAfter).toISOString().slice(0, 10);
  const text = `serial ${certificate.serial}, until ${until}`;
  if (certificate.notAfter <= at)
    return broken('feed key', `${text}: it has ended`, 'the cloud’s operator must certify a new feed key');
  if (certificate.notAfter - at < certificateSoonMs)
    return risky('feed key', text, 'the cloud’s operator should certify a new feed key soon');
  return fine('feed key', text);
}

/** Replays and races are refused in peace; what nobody signed is not. */
function checkRefused({ refused }: CloudStatus): readonly DoctorFinding[] {
  const forged = ['wrong-signature', 'wrong-type', 'wrong-shape', 'malformed'].filter((reason) => refused[reason]);
  if (forged.length === 0) return [];
  const text = forged.map((reason) => `${reason} ${refused[reason]}`).join(', ');
  return [broken('statements', `refused as not the cloud’s: ${text}`, 'look at the edge process and the network')];
}
