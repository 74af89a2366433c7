/** A TLS server in place of DynamoDB that answers at once: `KEY`, `CERT`, `REPLIES` (JSON, by operation). Prints its port. */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

const { KEY = '', CERT = '', REPLIES = '{}' } = process.env;
const replies = new Map(Object.entries<object>(JSON.parse(REPLIES)).map(([name, one]) => [name, JSON.stringify(one)]));

const server = createServer({ key: KEY, cert: CERT }, (request, response) => {
  request.resume().on('end', () => {
    const reply = replies.get(String(request.headers['x-amz-target']).split('.')[1] ?? '') ?? '{}';
    const headers = { 'Content-Type': 'application/x-amz-json-1.0', 'x-amzn-RequestId': 'A'.repeat(52) };
    response.writeHead(200, { ...headers, 'Content-Length': Buffer.byteLength(reply) }).end(reply);
  });
}).listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
