/**
 * A strict reader of pcapng files, written for tests: any deviation from the format throws.
 */

interface ReadPacket {
  readonly interface: number;
  readonly atMicroseconds: bigint;
  readonly bytes: Uint8Array;
  readonly originalLength: number;
  readonly flags: number;
  readonly comment: string;
}

export interface ReadCapture {
  readonly application: string;
  readonly interfaces: readonly { readonly linkType: number; readonly name: string; readonly longest: number }[];
  readonly packets: readonly ReadPacket[];
}

function demand(condition: boolean, claim: string): asserts condition {
  if (!condition) throw new Error(claim);
}

interface Block {
  readonly type: number;
  readonly body: Buffer;
}

function blocksOf(file: Buffer): readonly Block[] {
  const blocks: Block[] = [];
  for (let at = 0; at < file.length; ) {
    demand(at + 12 <= file.length, 'a block is cut');
    const length = file.readUInt32LE(at + 4);
    demand(length >= 12 && length % 4 === 0 && at + length <= file.length, `a block of ${length} bytes`);
    demand(file.readUInt32LE(at + length - 4) === length, 'the two lengths of a block differ');
    blocks.push({ type: file.readUInt32LE(at), body: file.subarray(at + 8, at + length - 4) });
    at += length;
  }
  return blocks;
}

function optionsOf(body: Buffer, from: number): ReadonlyMap<number, Buffer> {
  const options = new Map<number, Buffer>();
  let at = from;
  for (;;) {
    demand(at + 4 <= body.length, 'options without end');
    const code = body.readUInt16LE(at);
    const length = body.readUInt16LE(at + 2);
    if (code === 0) {
      demand(length === 0 && at + 4 === body.length, 'something follows the end of options');
      return options;
    }
    const next = at + 4 + Math.ceil(length / 4) * 4;
    demand(next <= body.length, 'an option is cut');
    demand(
      body.subarray(at + 4 + length, next).every((byte) => byte === 0),
      'padding is not zero',
    );
    demand(!options.has(code), `option ${code} twice`);
    options.set(code, body.subarray(at + 4, at + 4 + length));
    at = next;
  }
}

function packetOf(body: Buffer): ReadPacket {
  const captured = body.readUInt32LE(12);
  const end = 20 + Math.ceil(captured / 4) * 4;
  const options = optionsOf(body, end);
  return {
    interface: body.readUInt32LE(0),
    atMicroseconds: (BigInt(body.readUInt32LE(4)) << 32n) | BigInt(body.readUInt32LE(8)),
    bytes: Uint8Array.from(body.subarray(20, 20 + captured)),
    originalLength: body.readUInt32LE(16),
    flags: options.get(2)?.readUInt32LE(0) ?? 0,
    comment: options.get(1)?.toString('utf8') ?? '',
  };
}

export function readPcapng(file: Buffer): ReadCapture {
  const [header, ...blocks] = blocksOf(file);
  demand(header?.type === 0x0a0d0d0a, 'no section header');
  demand(header.body.readUInt32LE(0) === 0x1a2b3c4d, 'byte order');
  demand(header.body.readUInt16LE(4) === 1 && header.body.readUInt16LE(6) === 0, 'version');
  demand(header.body.readBigInt64LE(8) === -1n, 'section length');
  const interfaces: { linkType: number; name: string; longest: number }[] = [];
  const packets: ReadPacket[] = [];
  for (const { type, body } of blocks) {
    if (type === 1) {
      const options = optionsOf(body, 8);
      demand(body.readUInt16LE(2) === 0, 'a reserved field is used');
      demand(options.get(9)?.equals(Buffer.of(6)) === true, 'time is not in microseconds');
      interfaces.push({
        linkType: body.readUInt16LE(0),
        longest: body.readUInt32LE(4),
        name: options.get(2)?.toString('utf8') ?? '',
      });
      continue;
    }
    demand(type === 6, `block type ${type}`);
    const packet = packetOf(body);
    const origin = interfaces[packet.interface];
    demand(origin !== undefined, 'a packet of an interface that was not described');
    demand(packet.bytes.length <= packet.originalLength, 'more captured than there was');
    demand(packet.bytes.length <= origin.longest, 'longer than the interface allows');
    packets.push(packet);
  }
  return { application: optionsOf(header.body, 16).get(4)?.toString('utf8') ?? '', interfaces, packets };
}
