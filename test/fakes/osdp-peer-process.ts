/** Readers in a process of their own, so that their work is not measured as the gateway's. Ends with its parent. */
import { OsdpPeer, type PeerReader } from './osdp-peer.ts';

export interface PeerAssignment {
  readonly path: string;
  readonly baud: number;
  readonly readers: readonly PeerReader[];
}

export type ToPeer =
  | { readonly kind: 'attach'; readonly assignment: PeerAssignment }
  | { readonly kind: 'swipe'; readonly address: number; readonly bitCount: number; readonly bytes: readonly number[] }
  | { readonly kind: 'power'; readonly address: number; readonly isPowered: boolean };

let peer: OsdpPeer | undefined;

async function hear(message: ToPeer): Promise<void> {
  if (message.kind === 'attach') {
    peer = new OsdpPeer(message.assignment.readers, message.assignment.baud);
    await peer.attach(message.assignment.path);
    process.send?.('attached');
  } else if (message.kind === 'swipe') {
    peer?.swipe(message.address, message.bitCount, Uint8Array.from(message.bytes));
  } else {
    peer?.setPower(message.address, message.isPowered);
  }
}

process.on('message', (message) => void hear(message as ToPeer));
process.on('disconnect', () => process.exit(0));
