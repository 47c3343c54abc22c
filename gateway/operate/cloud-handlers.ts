/** The calls about the cloud; they wait for the moment in which its part of the door process is still being loaded. */
import type { Handlers } from '../control/door-side.ts';
import { type Arguments, ControlRefusal } from '../control/messages.ts';
import type { relayVerbs, syncCalls } from '../control/sync-calls.ts';
import type { CloudDesk } from '../follow/cloud-desk.ts';

type CloudVerb = keyof typeof syncCalls | (typeof relayVerbs)[number];

/** The cloud's part of the door process, once it is loaded. */
export interface CloudPart {
  readonly desk: Pick<CloudDesk, 'ask' | 'deliver' | 'told' | 'follow'>;
  standing(): Promise<unknown>;
  begin(call: Arguments<'enrol-begin'>): Promise<unknown>;
  finish(call: Arguments<'enrol-finish'>): Promise<unknown>;
  leave(): Promise<unknown>;
}

/** @param current resolves when it is loaded; to `undefined` where the process is ending. */
export function cloudHandlers(current: () => Promise<CloudPart | undefined>): Pick<Handlers, CloudVerb> {
  const cloud = async (): Promise<CloudPart> => {
    const open = await current();
    if (open === undefined) throw new ControlRefusal('UNAVAILABLE', 'the gateway is closing');
    return open;
  };
  return {
    'sync-ask': async (call) => (await cloud()).desk.ask(call),
    'sync-deliver': async (call) => (await cloud()).desk.deliver(call),
    'sync-told': async (call) => (await cloud()).desk.told(call),
    'sync-follow': async (_call, context) => (await cloud()).desk.follow(context),
    enrolment: async () => (await cloud()).standing(),
    'enrol-begin': async (call) => (await cloud()).begin(call),
    'enrol-finish': async (call) => (await cloud()).finish(call),
    unenrol: async () => (await cloud()).leave(),
  };
}
