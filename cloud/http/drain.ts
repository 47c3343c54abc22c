/**
 * Going down: what is in flight is answered, and each connection ends with the answer it waits for; what is not answered
 * within `drainMs` is cut.
 */
import type { FastifyInstance } from 'fastify';

const drainMs = 20_000;

/** @param closing aborted when going down begins. */
export function closeAfterAnswer(app: FastifyInstance, closing: AbortSignal): void {
  app.addHook('onSend', async (_, reply) => {
    if (closing.aborted) void reply.header('connection', 'close');
  });
}

/** Takes no new connection from now on. @returns when the last one has ended. */
export async function drain(app: FastifyInstance): Promise<void> {
  const deadline = setTimeout(() => app.server.closeAllConnections(), drainMs);
  app.server.closeIdleConnections();
  await app.close();
  clearTimeout(deadline);
}
