/**
 * Hints over an MQTT broker cluster: for many nodes, where PostgreSQL's one NOTIFY queue would be the narrow place.
 *
 * QoS 0, never retained: a hint that comes late says nothing that the database does not say better.
 */
import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt';
import { createHintListeners, type FeedHints, hintedIds, hintMessages } from './feed-hints.ts';

const topic = 'kannuki/feed';

export interface MqttHintOptions {
  /** `mqtts://…`, with the broker's credentials in `client`. */
  readonly url: string;
  readonly client?: IClientOptions;
  readonly onFault: (error: unknown) => void;
}

/** The client reconnects by itself for ever. @throws where the broker cannot be reached at first. */
export async function createMqttHints({ url, client, onFault }: MqttHintOptions): Promise<FeedHints> {
  const { subscribe, tell } = createHintListeners();
  const connection: MqttClient = await connectAsync(url, { ...client, clean: true, queueQoSZero: false });
  connection.on('error', onFault);
  connection.on('message', (_topic, payload) => tell(hintedIds(payload.toString('utf8'))));
  await connection.subscribeAsync(topic, { qos: 0 });
  return {
    subscribe,
    async publish(gatewayIds) {
      // Whoever waits on this node need not wait for the echo.
      tell(gatewayIds);
      for (const message of hintMessages(gatewayIds)) {
        if (connection.connected) await connection.publishAsync(topic, message, { qos: 0 }).catch(onFault);
      }
    },
    close: () => connection.endAsync(),
  };
}
