/** The same calls as of `bare.ts`, signed by hand over `node:https`, their bodies ready: what calls to DynamoDB take at least. */
import { createHmac, hash } from 'node:crypto';
import { Agent, request } from 'node:https';
import type { WireCall } from './bare.ts';

const { hostname, port, host, username } = new URL(process.env.DYNAMODB_ENDPOINT ?? '');
const agent = new Agent({ keepAlive: true });
const ALGORITHM = 'AWS4-HMAC-SHA256';
const SIGNED = 'content-type;host;x-amz-date;x-amz-target';

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
let key: Buffer | undefined;

function headersOf({ name, body }: WireCall): Record<string, string> {
  const time = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const scope = `${time.slice(0, 8)}/local/dynamodb/aws4_request`;
  key ??= scope.split('/').reduce<string | Buffer>(hmac, 'AWS4local') as Buffer;
  const [type, target] = ['application/x-amz-json-1.0', `DynamoDB_20120810.${name.replace('Command', '')}`];
  const lines = `content-type:${type}\nhost:${host}\nx-amz-date:${time}\nx-amz-target:${target}\n`;
  const canonical = hash('sha256', `POST\n/\n\n${lines}\n${SIGNED}\n${hash('sha256', body)}`);
  const signature = hmac(key, `${ALGORITHM}\n${time}\n${scope}\n${canonical}`).toString('hex');
  return {
    host,
    'content-type': type,
    'content-length': String(Buffer.byteLength(body)),
    'x-amz-date': time,
    'x-amz-target': target,
    authorization: `${ALGORITHM} Credential=${username}/${scope}, SignedHeaders=${SIGNED}, Signature=${signature}`,
  };
}

const send = (call: WireCall) =>
  new Promise((resolve, reject) => {
    const sent = request({ agent, hostname, port, method: 'POST', headers: headersOf(call) }, (reply) => {
      const parts: Buffer[] = [];
      reply.on('data', (part) => parts.push(part));
      reply.on('end', () => {
        const text = Buffer.concat(parts).toString();
        if (reply.statusCode === 200) resolve(JSON.parse(text));
        else reject(new Error(text));
      });
    });
    sent.on('error', reject).end(call.body);
  });

export const handler = async ({ rounds }: { rounds: WireCall[][] }) => {
  let last: unknown;
  for (const round of rounds) last = await Promise.all(round.map(send));
  return { statusCode: 200, body: JSON.stringify({ data: last }) };
};
