/** `discover`: finds OSDP devices on a line that nothing else has open. */

import { lineConfigOf } from '../device/line-address.ts';
import { monotonicNow } from '../system/monotonic.ts';
import { type Call, type Command, numberFlag, textFlag, UsageError } from './command.ts';

export const command: Command = {
  usage: `kannuki-gateway discover --serial PATH | --tcp HOST:PORT [--address 0…126] [--alone] [--json]
        --alone: exactly one device is on the line, so that it may also be asked by broadcast`,
  options: {
    serial: { type: 'string' },
    tcp: { type: 'string' },
    address: { type: 'string' },
    alone: { type: 'boolean' },
  },
  run: async (call) => {
    const { discoverDevices, discoveryBauds } = await import('../device/osdp/discover-devices.ts');
    const address = numberFlag(call, 'address', { min: 0, max: 126 });
    const found = await discoverDevices(
      {
        line: lineConfigOf({ id: 'searched', ...lineAsked(call) }),
        bauds: textFlag(call, 'tcp') === undefined ? discoveryBauds : [9600],
        addresses: address === undefined ? [1, 2, 3] : [address],
        isAlone: call.flags['alone'] === true,
        onProgress: ({ place, tried, total }) => {
          if (!call.flags['json'])
            call.terminal.err(`${tried}/${total} · asked address ${place.address} at ${place.baud} baud`);
        },
        signal: call.terminal.signal,
      },
      monotonicNow,
    );
    if (call.flags['json']) call.terminal.out(JSON.stringify(found));
    else if (found.length === 0)
      call.terminal.out('Nothing answers. Check power; swap the wires A and B; try --alone.');
    else
      for (const { address: at, baud, identity } of found)
        call.terminal.out(
          `address ${at} · ${baud} baud · ${identity ? `${identity.vendor} ${identity.model} #${identity.serial}` : 'does not say who it is'}`,
        );
    return found.length > 0 ? 0 : 1;
  },
};

function lineAsked(call: Call): {
  readonly serial: string | undefined;
  readonly tcp: string | undefined;
  readonly baud: number;
} {
  const serial = textFlag(call, 'serial');
  const tcp = textFlag(call, 'tcp');
  if ((serial === undefined) === (tcp === undefined)) throw new UsageError('name one of --serial and --tcp');
  return { serial, tcp, baud: 9600 };
}
