import { describe, expect, it } from 'vitest';
import {
  decryptData,
  defaultKey,
  deriveSessionKeys,
  encryptData,
  initialReplyMac,
  isSameSecret,
  isUsableKey,
  messageMac,
  panelCryptogram,
  peripheralCryptogram,
} from '#protocol/osdp/secure-channel.ts';

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
const hex = (value: Uint8Array | undefined): string | undefined => value && Buffer.from(value).toString('hex');

/** The test numbers of the standard's secure-channel annex. */
const annex = { a: bytes('B0B1B2B3B4B5B6B7'), b: bytes('A0A1A2A3A4A5A6A7') };
const annexKeys = deriveSessionKeys(defaultKey, annex.a);

/** One recorded session: libosdp 4.0.0-pre at both ends. */
const recorded = {
  keys: deriveSessionKeys(bytes('00112233445566778899AABBCCDDEEFF'), bytes('6B589943ACC11C86')),
  a: bytes('6B589943ACC11C86'),
  b: bytes('59D640C9F20D2346'),
};

describe('the numbers of the standard', () => {
  it('derive the three session keys from the default key', () => {
    expect(hex(annexKeys.mac1)).toBe('5e86c676603bdee2d8beafe178637332');
    expect(hex(annexKeys.mac2)).toBe('6fda86e857777e81132035758239172e');
    expect(hex(annexKeys.encryption)).toBe('bf8dc2a8329acb8c67c6d0cd9a451682');
  });

  it('prove the key from both sides and begin the chain', () => {
    const panel = panelCryptogram(annexKeys, annex.a, annex.b);
    expect(hex(panel)).toBe('26d3356e07762d262801fc8e6665a891');
    expect(hex(peripheralCryptogram(annexKeys, annex.a, annex.b))).toBe('fde5d2f428ec16312471ea3c02bd7796');
    expect(hex(initialReplyMac(annexKeys, panel))).toBe('b2a30057eb98ba2229ec1f875662b524');
  });
});

describe('a recorded session', () => {
  const cryptogram = panelCryptogram(recorded.keys, recorded.a, recorded.b);

  it('has the keys and cryptograms of its handshake', () => {
    expect(hex(recorded.keys.encryption)).toBe('3a34e29c610339603499897853f637da');
    expect(hex(recorded.keys.mac1)).toBe('26b8407490a73ea2cff6afa5ed9b06bb');
    expect(hex(recorded.keys.mac2)).toBe('b305a54d3b6ccb0a8b0a55261b79cfd4');
    expect(hex(peripheralCryptogram(recorded.keys, recorded.a, recorded.b))).toBe('8fb70c825c01983b3b1906fdd138a2ba');
    expect(hex(cryptogram)).toBe('a101078426e43b94b63017500ec0726d');
    expect(hex(initialReplyMac(recorded.keys, cryptogram))).toBe('3dea68e9aca22a4d41c30f86fa76090d');
  });

  it('chains every MAC from the first poll to the LED command, whose data decrypts', () => {
    const covered = [
      ['53 00 0E 00 0E 02 15 60', 'c9bcdf7b'],
      ['53 80 0E 00 0E 02 16 40', '5f053c5d'],
      ['53 00 0E 00 0F 02 15 60', 'cdea5558'],
      ['53 80 0E 00 0F 02 16 40', 'fe859a61'],
      ['53 00 0E 00 0D 02 15 60', '23b574b0'],
      ['53 80 0E 00 0D 02 16 40', '9c296f19'],
      ['53 00 0E 00 0E 02 15 60', 'e487a258'],
      ['53 80 0E 00 0E 02 16 40', 'ea38389c'],
    ] as const;
    let chain = initialReplyMac(recorded.keys, cryptogram);
    for (const [message, mac] of covered) {
      chain = messageMac(recorded.keys, chain, bytes(message));
      expect(hex(chain.subarray(0, 4))).toBe(mac);
    }
    const encrypted = bytes('E21818ECCF6D3E7F5C993C40B34AD53C');
    expect(hex(decryptData(recorded.keys, chain, encrypted))).toBe('000002020202001400010a000100');
    expect(hex(encryptData(recorded.keys, chain, bytes('000002020202001400010A000100')))).toBe(hex(encrypted));
    const led = messageMac(recorded.keys, chain, bytes('53 00 1E 00 0F 02 17 69 E21818ECCF6D3E7F5C993C40B34AD53C'));
    expect(hex(led.subarray(0, 4))).toBe('bddf0db9');
  });
});

describe('data encryption', () => {
  it.each([0, 1, 15, 16, 17, 31, 32, 100, 1400])('returns %i bytes as they were', (length) => {
    const data = Uint8Array.from({ length }, (_, index) => (index * 7) & 0xff);
    const encrypted = encryptData(annexKeys, annexKeys.mac1, data);
    expect(encrypted.length).toBe((Math.floor(length / 16) + 1) * 16);
    expect(decryptData(annexKeys, annexKeys.mac1, encrypted)).toEqual(data);
  });

  it('keeps zeros and an 80 at the end of the data', () => {
    for (const data of [bytes('8000'), bytes('80'), bytes('0000'), bytes('8080000000')]) {
      expect(decryptData(annexKeys, annexKeys.mac1, encryptData(annexKeys, annexKeys.mac1, data))).toEqual(data);
    }
  });

  it('answers nothing for a wrong length or wrong padding', () => {
    const encrypted = encryptData(annexKeys, annexKeys.mac1, bytes('0102'));
    expect(decryptData(annexKeys, annexKeys.mac1, encrypted.subarray(0, 15))).toBeUndefined();
    expect(decryptData(annexKeys, annexKeys.mac1, new Uint8Array(0))).toBeUndefined();
    expect(decryptData(annexKeys, annexKeys.mac2, encrypted)).toBeUndefined();
  });
});

describe('keys', () => {
  it('are usable unless everybody could know them or another reader has them', () => {
    const good = bytes('00112233445566778899AABBCCDDEEFF');
    expect(isUsableKey(good)).toBe(true);
    expect(isUsableKey(new Uint8Array(16))).toBe(false);
    expect(isUsableKey(defaultKey)).toBe(false);
    expect(isUsableKey(good, [good.slice()])).toBe(false);
    expect(isUsableKey(good.subarray(0, 15))).toBe(false);
  });

  it('compare equal only byte by byte', () => {
    expect(isSameSecret(bytes('0102'), bytes('0102'))).toBe(true);
    expect(isSameSecret(bytes('0102'), bytes('0103'))).toBe(false);
    expect(isSameSecret(bytes('0102'), bytes('010203'))).toBe(false);
  });
});
