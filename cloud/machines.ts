/** Every machine whose table the migrations guard: what `migrate` writes into the rule table. */
import type { AnyMachine } from '#shared/machine.ts';
import { credentialMachine } from './credential/machine.ts';
import { commandMachine } from './gateway-sync/command-lifecycle.ts';
import { gatewayMachine } from './gateway-sync/gateway-machine.ts';
import { invitationMachine } from './identity/invitation-machine.ts';

export const machines: readonly AnyMachine[] = [credentialMachine, gatewayMachine, commandMachine, invitationMachine];
