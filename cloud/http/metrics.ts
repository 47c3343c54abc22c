/** Counters and histograms of one server, in Prometheus' text form; rooms add theirs to the same registry. */
import type { FastifyInstance } from 'fastify';
import { Counter, Histogram, Registry } from 'prom-client';

/** Label values are route patterns and statuses, never ids: their number stays bounded. */
export function countRequests(app: FastifyInstance): Registry {
  const registry = new Registry();
  const labelNames = ['method', 'route', 'status'] as const;
  const requests = new Counter({
    name: 'kannuki_http_requests_total',
    help: 'Requests answered, by route and status.',
    labelNames,
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'kannuki_http_request_seconds',
    help: 'From the first byte of a request to the last of its answer, in seconds.',
    labelNames: ['method', 'route'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  app.addHook('onResponse', async (request, reply) => {
    const labels = { method: request.method, route: request.routeOptions.url ?? 'none' };
    requests.inc({ ...labels, status: String(reply.statusCode) });
    seconds.observe(labels, reply.elapsedTime / 1000);
  });
  return registry;
}
