import { describe, expect, it } from 'vitest';
import type { CardBits } from '#protocol/wiegand/card-bits.ts';
import type { CardFormat } from '#protocol/wiegand/card-format.ts';
import { decodeCard } from '#protocol/wiegand/decode-card.ts';
import { encodeCard } from '#protocol/wiegand/encode-card.ts';
import { h10302, h10304, standardFormats } from '#protocol/wiegand/standard-formats.ts';

const card = (bitCount: number, hex: string): CardBits => ({
  bitCount,
  bytes: Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex')),
});

// Bytes measured between running panel and peripheral programs.
const measured = [
  { name: 'H10301', bits: card(26, 'BD D9 37 40'), facility: 123, number: 45678 },
  { name: 'H10306', bits: card(34, '88 70 EA 18 80'), facility: 4321, number: 54321 },
  { name: 'H10304', bits: card(37, '02 69 54 64 E8'), facility: 1234, number: 345678 },
  { name: 'H10302', bits: card(37, '84 99 60 2D 28'), facility: undefined, number: 1234567890 },
] as const;

const formatNamed = (name: string): CardFormat => {
  const format = standardFormats.find((each) => each.name === name);
  if (format === undefined) throw new Error(name);
  return format;
};

describe('decoding a card', () => {
  it.each(measured)('reads the measured $name card', ({ name, bits, facility, number }) => {
    const decoding = decodeCard(bits, [formatNamed(name)]);
    expect(decoding).toMatchObject({ kind: 'decoded', readings: [{ format: name, facility, number }] });
  });

  it.each(measured)('makes the measured $name card from its numbers', ({ name, bits, facility, number }) => {
    expect(encodeCard(formatNamed(name), { facility, number })).toEqual(bits);
  });

  it('gives both readings of 37 bits, since the bits cannot tell', () => {
    const decoding = decodeCard(card(37, '84 99 60 2D 28'), standardFormats);
    expect(decoding).toMatchObject({ kind: 'decoded', readings: [{ format: 'H10302' }, { format: 'H10304' }] });
  });

  it('gives one reading where the site says which 37-bit format it uses', () => {
    const decoding = decodeCard(card(37, '84 99 60 2D 28'), [h10304]);
    expect(decoding).toMatchObject({ kind: 'decoded', readings: [{ format: 'H10304' }] });
  });

  it('refuses each single flipped bit of every standard format', () => {
    for (const format of standardFormats) {
      const good = encodeCard(format, { facility: format.facility === undefined ? undefined : 77, number: 4711 });
      expect(good).toBeDefined();
      if (good === undefined) continue;
      for (let bit = 0; bit < format.bitCount; bit += 1) {
        const bytes = good.bytes.slice();
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (0x80 >> (bit & 7));
        expect(decodeCard({ ...good, bytes }, [format]), `${format.name} bit ${bit}`).toEqual({
          kind: 'malformed',
          reason: 'parity',
        });
      }
    }
  });

  it('does not believe bits after the last', () => {
    expect(decodeCard(card(26, 'BD D9 37 7F'), standardFormats)).toMatchObject({ kind: 'decoded' });
  });

  it('refuses fewer bytes than bits, and no bits', () => {
    expect(decodeCard(card(26, 'BD D9 37'), standardFormats)).toEqual({ kind: 'malformed', reason: 'length' });
    expect(decodeCard(card(0, ''), standardFormats)).toEqual({ kind: 'malformed', reason: 'length' });
  });

  it('leaves a bit count without format as raw bits, which can be enrolled', () => {
    expect(decodeCard(card(25, 'B3 8F 0F 80'), standardFormats)).toEqual({ kind: 'raw' });
  });

  it.each([32, 56, 64])('knows %i bits as a serial number that anyone can copy', (bitCount) => {
    expect(decodeCard(card(bitCount, '04A1B2C3D4E5F607'), standardFormats)).toEqual({ kind: 'uid', isCloneable: true });
  });

  it('marks the open formats as cloneable, and says so of each reading', () => {
    const cloneable = standardFormats.filter((format) => format.isCloneable).map((format) => format.name);
    expect(cloneable).toEqual(['H10301', 'H10306']);
    expect(decodeCard(card(26, 'BD D9 37 40'), standardFormats)).toMatchObject({ readings: [{ isCloneable: true }] });
  });

  it('reads a format of the site’s own', () => {
    const own: CardFormat = {
      name: 'site-30',
      bitCount: 30,
      facility: undefined,
      number: { from: 0, length: 29 },
      parities: [{ at: 29, ones: 'odd', covers: [0, 1, 2] }],
      isCloneable: false,
    };
    const bits = encodeCard(own, { facility: undefined, number: 123456 });
    expect(bits).toBeDefined();
    if (bits === undefined) return;
    expect(decodeCard(bits, [...standardFormats, own])).toMatchObject({ readings: [{ number: 123456 }] });
  });
});

describe('the three parities of Corporate 1000', () => {
  // Bit maps as public tables draw them: the letter is the parity bit, x what it covers. Applied in this order.
  const maps = {
    'C1000-35': [
      '.Exx.xx.xx.xx.xx.xx.xx.xx.xx.xx.xx.',
      '.xx.xx.xx.xx.xx.xx.xx.xx.xx.xx.xx.O',
      'Oxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    ],
    'C1000-48': [
      '.E.xx.xx.xx.xx.xx.xx.xx.xx.xx.xx.xx.xx.xx.xx.xx.',
      '..xx.xx.xx.xx.xx.xx.xx.xx.xx.xx.xx.xx.xx.xx.xx.O',
      'Oxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
    ],
  } as const;

  it.each(Object.entries(maps))('of %s are drawn right', (name, lines) => {
    const format = formatNamed(name);
    const drawn = lines.map((line) => ({
      at: line.search(/[EO]/),
      ones: line.includes('E') ? 'even' : 'odd',
      covers: [...line].flatMap((mark, bit) => (mark === 'x' ? [bit] : [])),
    }));
    for (const line of lines) expect(line).toHaveLength(format.bitCount);
    expect(format.parities).toEqual(drawn);
  });
});

describe('encoding a card', () => {
  it('refuses numbers that do not fit, and a facility too many or missing', () => {
    expect(encodeCard(h10302, { facility: undefined, number: 2 ** 35 })).toBeUndefined();
    expect(encodeCard(h10302, { facility: 1, number: 1 })).toBeUndefined();
    expect(encodeCard(h10304, { facility: undefined, number: 1 })).toBeUndefined();
    expect(encodeCard(h10304, { facility: 65536, number: 1 })).toBeUndefined();
    expect(encodeCard(h10304, { facility: 1, number: -1 })).toBeUndefined();
    expect(encodeCard(h10304, { facility: 1, number: 1.5 })).toBeUndefined();
  });

  it('takes the largest numbers of every format and reads them back', () => {
    for (const format of standardFormats) {
      const numbers = {
        facility: format.facility && 2 ** format.facility.length - 1,
        number: 2 ** format.number.length - 1,
      };
      const bits = encodeCard(format, numbers);
      expect(bits && decodeCard(bits, [format])).toMatchObject({ readings: [numbers] });
    }
  });
});
