/** An MQTT broker in a process of its own; says its port and runs until it is ended. */
import { createServer } from 'node:net';
import { Aedes } from 'aedes';

const broker = await Aedes.createBroker();
const server = createServer(broker.handle);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  console.log(typeof address === 'object' ? address?.port : address);
});
// Whoever started it is gone.
process.stdin.resume().on('end', () => process.exit());
