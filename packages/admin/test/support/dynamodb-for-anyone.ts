import { createServer, request } from 'node:http';
import { Endpoint } from '../../../../lib/aws/endpoint.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { listen } from '../../../../test/support/listen.ts';

/**
 * A proxy to the run's DynamoDB Local that shows the same tables to all callers. DynamoDB Local itself keeps separate tables for each access
 * key and region.
 */
export async function startDynamoDbForAnyone() {
  const { url, credentials } = new Endpoint(dynamodbEndpoint());
  const server = createServer((incoming, response) => {
    const signature = String(incoming.headers.authorization);
    const authorization = signature.replace(
      /Credential=[^/]*\/(\d+)\/[^/]*/,
      `Credential=${credentials.accessKeyId}/$1/local`,
    );
    const headers = { ...incoming.headers, authorization };
    const outgoing = request(url, { method: incoming.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(outgoing.on('error', () => response.destroy()));
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, close: () => server.close() };
}
