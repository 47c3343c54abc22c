/**
 * Reads a recorded line as somebody who knows the keys: what each frame says in clear.
 * It shares the cryptography with the sessions and nothing else.
 */
import { carriesMac, type Frame } from '#protocol/osdp/frame.ts';
import {
  decryptData,
  defaultKey,
  deriveSessionKeys,
  initialReplyMac,
  isSameSecret,
  messageMac,
  panelCryptogram,
  peripheralCryptogram,
  type SessionKeys,
} from '#protocol/osdp/secure-channel.ts';

export class TraceObserver {
  private nonce: Uint8Array = new Uint8Array(8);
  private keys: SessionKeys | undefined;
  private lastCommand: Uint8Array = new Uint8Array(0);
  private commandMac: Uint8Array = new Uint8Array(16);
  private replyMac: Uint8Array = new Uint8Array(16);
  private chain: Uint8Array = new Uint8Array(16);
  private readonly known: readonly Uint8Array[];

  constructor(known: readonly Uint8Array[]) {
    this.known = [...known, defaultKey, new Uint8Array(16)];
  }

  /** @returns the data in clear; empty where it cannot be read. */
  see(frame: Frame): Uint8Array {
    return frame.isReply ? this.seeReply(frame) : this.seeCommand(frame);
  }

  private seeCommand(frame: Frame): Uint8Array {
    const isNew = !isSameSecret(this.lastCommand, frame.bytes);
    this.lastCommand = frame.bytes;
    if (frame.code === 0x76) this.nonce = frame.data;
    if (!carriesMac(frame.security) || this.keys === undefined) return frame.data;
    if (isNew) this.chain = this.replyMac;
    this.commandMac = messageMac(this.keys, this.chain, covered(frame));
    return this.clear(frame, 0x17, this.chain);
  }

  private seeReply(frame: Frame): Uint8Array {
    if (frame.code === 0x76) this.learnKeys(frame.data);
    if (!carriesMac(frame.security) || this.keys === undefined) return frame.data;
    this.replyMac = messageMac(this.keys, this.commandMac, covered(frame));
    return this.clear(frame, 0x18, this.commandMac);
  }

  private clear(frame: Frame, encrypted: number, chain: Uint8Array): Uint8Array {
    if (frame.security?.type !== encrypted || this.keys === undefined) return frame.data;
    return decryptData(this.keys, chain, frame.data) ?? new Uint8Array(0);
  }

  private learnKeys(answer: Uint8Array): void {
    const random = answer.subarray(8, 16);
    for (const key of this.known) {
      const keys = deriveSessionKeys(key, this.nonce);
      if (!isSameSecret(peripheralCryptogram(keys, this.nonce, random), answer.subarray(16))) continue;
      this.keys = keys;
      this.replyMac = initialReplyMac(keys, panelCryptogram(keys, this.nonce, random));
    }
  }
}

const covered = (frame: Frame): Uint8Array => frame.bytes.subarray(0, -(4 + (frame.check === 'crc' ? 2 : 1)));
