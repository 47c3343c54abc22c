import { expect, it } from 'vitest';
import { encodeFrame } from '#protocol/osdp/frame.ts';
import { createFrameParser, parseFrames } from '#protocol/osdp/frame-parser.ts';
import { fromHex, readTrace, traceNames } from './trace.ts';

it.each(traceNames)('reads and writes every frame of %s, byte for byte', (name) => {
  for (const row of readTrace(name)) {
    const bytes = fromHex(row.hex);
    const step = parseFrames(createFrameParser('replies'), bytes);
    if (row.note === 'FAULT corrupt check bytes') {
      expect(step).toMatchObject({ frames: [], foreign: [], drops: { badCheck: 1, bytes: bytes.length - 1 } });
      continue;
    }
    const [frame] = row.dir === 'CP>PD' ? step.foreign : step.frames;
    expect(frame, row.hex).toBeDefined();
    if (frame === undefined) continue;
    expect(step.frames.length + step.foreign.length).toBe(1);
    expect(step.drops).toEqual({ bytes: 0, badLength: 0, badCheck: 0, badStructure: 0, expired: 0 });
    expect(frame.bytes).toEqual(bytes.subarray(bytes[0] === 0xff ? 1 : 0));
    expect(encodeFrame(frame, () => frame.mac ?? new Uint8Array(0))).toEqual(frame.bytes);
  }
});
