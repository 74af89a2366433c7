/**
 * Answers `SendMessage` and `SendMessageBatch` as SQS does, and keeps nothing: local queues would keep what is measured in memory. The SDK checks
 * the digests. Source: *SQS API Reference*, and its developer guide's "AWS JSON protocol".
 */
import { hash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

interface Message {
  Id?: string;
  MessageBody: string;
}

const resultOf = ({ Id, MessageBody }: Message) => ({
  ...(Id && { Id }),
  MessageId: randomUUID(),
  MD5OfMessageBody: hash('md5', MessageBody),
});

const server = createServer(async (request, response) => {
  const { Entries, ...message } = (await json(request)) as Message & { Entries?: Message[] };
  const answer = Entries ? { Successful: Entries.map(resultOf), Failed: [] } : resultOf(message);
  response.writeHead(200, { 'Content-Type': 'application/x-amz-json-1.0' }).end(JSON.stringify(answer));
});
server.listen(0, '127.0.0.1', () => process.send?.(server.address()));
process.on('disconnect', () => process.exit());
