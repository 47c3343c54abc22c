/** `discover`: finds OSDP devices on a line that nothing else has open. */

import type { Language } from '#shared/code.ts';
import { type Call, type Command, numberFlag, textFlag, UsageError } from '#shared/command-line/command.ts';
import { searchLine } from '../compose-discovery.ts';
import { lineConfigOf } from '../device/line-address.ts';

const words = {
  en: {
    asked: (address: number, baud: number) => `asked address ${address} at ${baud} baud`,
    place: (address: number, baud: number) => `address ${address} · ${baud} baud`,
    nameless: 'does not say who it is',
    nothing: 'Nothing answers. Check power; swap the wires A and B; try --alone.',
  },
  ja: {
    asked: (address: number, baud: number) => `アドレス ${address}、${baud} bps で問い合わせました`,
    place: (address: number, baud: number) => `アドレス ${address} · ${baud} bps`,
    nameless: '機種を答えません',
    nothing: '応答がありません。電源を確認し、A線とB線を入れ替えるか、--alone を試してください。',
  },
};
type Words = (typeof words)[Language];

export const command: Command = {
  usage: `kannuki-gateway discover --serial PATH | --tcp HOST:PORT [--address 0…126] [--alone] [--json]
        --alone: exactly one device is on the line, so that it may also be asked by broadcast`,
  options: {
    serial: { type: 'string' },
    tcp: { type: 'string' },
    address: { type: 'string' },
    alone: { type: 'boolean' },
  },
  wordsMax: 0,
  run: async (call) => {
    const say = words[call.terminal.language];
    const address = numberFlag(call, 'address', { min: 0, max: 126 });
    const found = await searchLine({
      line: lineAsked(call),
      addresses: address === undefined ? [1, 2, 3] : [address],
      isAlone: call.flags['alone'] === true,
      onProgress: ({ place, tried, total }) => {
        if (call.flags['json']) return;
        call.terminal.err(`${tried}/${total} · ${say.asked(place.address, place.baud)}`);
      },
      signal: call.terminal.signal,
    });
    if (call.flags['json']) call.terminal.out(JSON.stringify(found));
    else for (const line of foundLines(found, say)) call.terminal.out(line);
    return found.length > 0 ? 0 : 1;
  },
};

function foundLines(found: Awaited<ReturnType<typeof searchLine>>, say: Words): readonly string[] {
  if (found.length === 0) return [say.nothing];
  return found.map(({ address, baud, identity }) => {
    const who = identity ? `${identity.vendor} ${identity.model} #${identity.serial}` : say.nameless;
    return `${say.place(address, baud)} · ${who}`;
  });
}

function lineAsked(call: Call): ReturnType<typeof lineConfigOf> {
  const serial = textFlag(call, 'serial');
  const tcp = textFlag(call, 'tcp');
  if ((serial === undefined) === (tcp === undefined))
    throw new UsageError('name one of --serial and --tcp', '--serial か --tcp のどちらかを指定してください');
  return lineConfigOf({ id: 'searched', serial, tcp, baud: 9600 });
}
