import { expect, test } from 'vitest';
import { lineConfigOf } from '#gateway/device/line-address.ts';

const written = { id: 'bus', baud: 9_600 };

test.each([
  [{ serial: '/dev/ttyUSB0' }, { kind: 'serial', path: '/dev/ttyUSB0' }],
  [{ tcp: '10.0.0.7:4001' }, { kind: 'tcp', host: '10.0.0.7', port: 4_001 }],
  [{ tcp: 'converter.local:23' }, { kind: 'tcp', host: 'converter.local', port: 23 }],
  [{ tcp: '[fe80::1]:4001' }, { kind: 'tcp', host: 'fe80::1', port: 4_001 }],
])('%j is read as a driver takes it', (place, line) => {
  expect(lineConfigOf({ ...written, ...place })).toEqual({ ...written, ...line });
});
