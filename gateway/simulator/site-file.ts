/**
 * A simulated site as one YAML or JSON file: lines, the peripherals on them, and the doors their wires end at.
 *
 * Not promised: that a port is free or a serial device exists; opening the line says so.
 */
import * as z from 'zod';
import { idSchema, nameSchema } from '#shared/contract/identifier.ts';

const deviceId = idSchema<'device'>();
const lineId = idSchema<'line'>();
const doorId = idSchema<'door'>();
const byte = z.int().min(0).max(255);

const lineSchema = z.strictObject({
  id: lineId,
  wire: z.union([
    /** A converter's raw port on 127.0.0.1; 0 takes a free one, which is told when the line opens. */
    z.strictObject({ port: z.int().min(0).max(65_535) }),
    z.strictObject({ serial: z.string().min(1).max(4096) }),
  ]),
  /** Replies take as long as their bytes would at this rate, bits per second. */
  baud: z.int().min(1_200).max(1_000_000).default(9_600),
  /** From the end of a command to the beginning of its reply, ms. */
  turnaroundMs: z.int().min(0).max(190).default(8),
  /** Connections a converter takes at once; a further one is refused. */
  panelsMax: z.int().min(1).max(4).default(1),
});

const keySchema = z.union([
  /** 16 bytes in hexadecimal. */
  z.strictObject({ hex: z.string().regex(/^[0-9a-f]{32}$/i, 'must be 16 bytes in hexadecimal') }),
  /** A file that holds the same; relative paths are meant from the site file's folder. */
  z.strictObject({ file: z.string().min(1).max(4096) }),
  /** As it left the factory: takes a key over the default key, or speaks no secure channel at all. */
  z.enum(['install', 'plain']),
]);

const peripheralSchema = z.strictObject({
  id: deviceId,
  line: lineId,
  address: z.int().min(0).max(126),
  key: keySchema,
  /** Refuses everything but identification and the handshake while it has no session. */
  requiresSecurity: z.boolean().default(true),
  identity: z
    .strictObject({
      /** OUI as three bytes in hexadecimal. */
      vendor: z
        .string()
        .regex(/^[0-9a-f]{6}$/i, 'must be 3 bytes in hexadecimal')
        .default('02b19e'),
      model: byte.default(1),
      version: byte.default(1),
      serial: z.int().min(0).max(0xffff_ffff),
      firmware: z.tuple([byte, byte, byte]).default([1, 0, 0]),
    })
    .readonly(),
  /** Reading heads; 0 = an input and output board. */
  heads: z.int().min(0).max(4).default(1),
  inputs: z.int().min(0).max(32).default(0),
  outputs: z.int().min(0).max(32).default(0),
  /** Tells the panel by itself when an output changes, as most boards do. */
  reportsOutputs: z.boolean().default(true),
});

const inputPoint = z.strictObject({
  peripheral: deviceId,
  input: z.int().min(0).max(31),
  /** Whether the input reads active while what it watches is true. */
  activeWhenTrue: z.boolean().default(true),
});

const doorSchema = z.strictObject({
  id: doorId,
  name: nameSchema,
  strike: z.strictObject({
    peripheral: deviceId,
    output: z.int().min(0).max(31),
    release: z.enum(['energise', 'de-energise']).default('energise'),
  }),
  contact: inputPoint.nullable().default(null),
  exitButton: inputPoint.nullable().default(null),
  fire: inputPoint.nullable().default(null),
  /** Where people stand who want to pass it. */
  readers: z.array(deviceId).max(8).default([]),
  opensAfterMs: z.int().min(0).max(60_000).default(700),
  closesAfterMs: z.int().min(1).max(600_000).default(2_500),
});

export const siteSchema = z.strictObject({
  name: nameSchema.default('simulated site'),
  lines: z.array(lineSchema).min(1).max(16),
  peripherals: z.array(peripheralSchema).min(1).max(128),
  doors: z.array(doorSchema).max(64).default([]),
});

export type Site = z.infer<typeof siteSchema>;
export type SiteInput = z.input<typeof siteSchema>;
export type SiteLine = Site['lines'][number];
export type SitePeripheral = Site['peripherals'][number];
export type SiteDoor = Site['doors'][number];
