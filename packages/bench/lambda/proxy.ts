/**
 * A TLS proxy that adds a round-trip time to a DynamoDB-compatible server, as a process with `KEY`, `CERT`, `TARGET_PORT` and `ROUND_TRIP_MS` in its
 * environment. Sends its port to the parent process.
 */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createServer as createTlsServer } from 'node:tls';

const { KEY = '', CERT = '', TARGET_PORT, ROUND_TRIP_MS } = process.env;
const oneWayMs = Number(ROUND_TRIP_MS) / 2;

const tlsServer = createTlsServer({ key: KEY, cert: CERT, noDelay: true }, (socket) => {
  const target = connect(Number(TARGET_PORT), '127.0.0.1').setNoDelay();
  socket.pipe(target).pipe(socket);
  for (const end of [socket, target]) end.on('error', () => [socket, target].map((either) => either.destroy()));
}).listen(0, '127.0.0.1');

/** Delays bytes, and keeps their order. None arrives before the simulated TCP handshake is over; the real local one takes no time. */
function delay(from: Socket, to: Socket, handshakeMs: number): void {
  const connectedMs = performance.now() + handshakeMs;
  let previous: Promise<unknown> = Promise.resolve();
  const schedule = (action: () => void) => {
    const delayed = sleep(Math.max(0, connectedMs - performance.now()) + oneWayMs);
    previous = previous.then(() => delayed).then(action);
  };
  from.on('data', (part) => schedule(() => to.write(part)));
  from.on('close', () => schedule(() => to.destroy()));
  from.on('error', () => from.destroy());
}

tlsServer.once('listening', () => {
  const delayingServer = createServer({ noDelay: true }, (socket) => {
    const toTlsServer = connect((tlsServer.address() as AddressInfo).port, '127.0.0.1').setNoDelay();
    delay(socket, toTlsServer, 2 * oneWayMs);
    delay(toTlsServer, socket, 0);
  }).listen(0, '127.0.0.1', () => process.send?.((delayingServer.address() as AddressInfo).port));
});
process.on('disconnect', () => process.exit());
