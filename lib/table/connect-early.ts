import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { HttpResponse } from '@smithy/core/protocols';
import type { Table } from './client.ts';
import type { HttpHandler } from './http-handler.ts';

/** A key's row and the rate limit's are read one after the other, what follows at most two at a time. */
const CONNECTIONS = 2;

const NOTHING = { statusCode: 200, reason: '', headers: {}, body: Buffer.from('{}') };

/**
 * Opens connections to DynamoDB before the first call, and looks up credentials and endpoint: by a call that stops where it would be
 * sent. @returns once they stand, or cannot be made in time: no error, for the calls will meet it
 */
export async function connectEarly({ client, name }: Table): Promise<void> {
  const command = new GetItemCommand({ TableName: name, Key: {} });
  command.middlewareStack.add(
    () =>
      async ({ request }) => {
        const { connect } = client.config.requestHandler as HttpHandler;
        await Promise.all(Array.from({ length: CONNECTIONS }, () => connect(request as never)));
        return { response: new HttpResponse(NOTHING), output: { $metadata: {} } };
      },
    { step: 'deserialize', priority: 'low', name: 'connectEarly' },
  );
  await client.send(command).catch(() => undefined);
}
