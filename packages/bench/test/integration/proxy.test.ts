import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { expect, it, onTestFinished } from 'vitest';
import { createCertificate, startProxy } from '../../lambda/environment.ts';

it('the proxy delays bytes and keeps their order, also when the first arrive in two parts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'proxy-'));
  const target = createServer((socket) => void socket.pipe(socket)).listen(0, '127.0.0.1');
  await once(target, 'listening');
  const url = `http://127.0.0.1:${(target.address() as AddressInfo).port}`;
  const proxy = await startProxy(url, createCertificate(folder).env, 80);
  onTestFinished(() => {
    proxy.stop();
    target.close();
    rmSync(folder, { recursive: true });
  });

  const began = performance.now();
  const socket = connect(Number(new URL(proxy.endpoint).port), '127.0.0.1').setNoDelay();
  // Sends the first byte of each part some milliseconds before the rest.
  const parts = new Duplex({
    read() {},
    write(part: Buffer, _encoding, done) {
      socket.write(part.subarray(0, 1));
      setTimeout(() => socket.write(part.subarray(1), done), 20);
    },
  });
  socket.on('data', (part) => parts.push(part));
  const client = connectTls({ socket: parts, rejectUnauthorized: false });
  onTestFinished(() => void socket.destroy());
  await once(client, 'secureConnect');
  // A round trip for the TCP handshake, and one for that of TLS.
  expect(performance.now() - began).toBeGreaterThan(150);
  client.write('text');
  const [echo] = await once(client, 'data');
  expect(String(echo)).toBe('text');
}, 10_000);
