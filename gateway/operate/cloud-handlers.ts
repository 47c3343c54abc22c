/** The calls about the cloud; refused for the moment in which its part of the door process is still being loaded. */
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

export function cloudHandlers(current: () => CloudPart | undefined): Pick<Handlers, CloudVerb> {
  const cloud = (): CloudPart => {
    const open = current();
    if (open === undefined) throw new ControlRefusal('UNAVAILABLE', 'the gateway is starting');
    return open;
  };
  return {
    'sync-ask': (call) => cloud().desk.ask(call),
    'sync-deliver': (call) => cloud().desk.deliver(call),
    'sync-told': (call) => cloud().desk.told(call),
    'sync-follow': (_call, context) => cloud().desk.follow(context),
    enrolment: () => cloud().standing(),
    'enrol-begin': (call) => cloud().begin(call),
    'enrol-finish': (call) => cloud().finish(call),
    unenrol: () => cloud().leave(),
  };
}
