/**
 * AWS's wire, as far as the operator's command and the gateway keys use it: API Gateway, CloudFormation, CloudWatch,
 * SQS, STS.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startDynamoDbForAnyone } from '../../../../test/support/dynamodb-for-anyone.ts';

/** Starts a server in place of AWS. @returns its state, its URL, and the calls that it got */
export async function startFakeAws(stack: { name: string; outputs: Record<string, string> }) {
  const gateway = {
    keys: [] as { id: string; name: string; value: string }[],
    made: 0,
    attached: [] as string[],
    calls: [] as string[],
    /** Error names to answer the next writes with, before they are applied. */
    failures: [] as string[],
    /** Whether deletions are answered with a client error. */
    refuseDeletions: false,
  };

  /** What the account and region have for a first deployment. */
  const region = {
    ...{ concurrency: 1_000, unreserved: 1_000, codeBytes: 0 },
    ...{ rate: 10_000, logsRole: undefined as string | undefined, bootstrap: '30' },
  };

  /** The attributes of every queue, or the name of the error that SQS answers with. */
  let queue: Record<string, string> | string = {};
  function answerSqs(text: string, response: ServerResponse) {
    const { AttributeNames = [] } = JSON.parse(text) as { AttributeNames?: string[] };
    response.setHeader('Content-Type', 'application/x-amz-json-1.0');
    if (typeof queue === 'string')
      return response.writeHead(400).end(JSON.stringify({ __type: queue, message: 'You may not.' }));
    const given = Object.entries(queue).filter(([name]) => AttributeNames.includes(name));
    return response.end(JSON.stringify({ Attributes: Object.fromEntries(given) }));
  }

  /** The answers of CloudWatch and CloudWatch Logs, by action. Others are empty. */
  const replies: Record<string, (input: Record<string, unknown>) => object> = {};

  async function answerApiGateway(request: IncomingMessage, text: string, response: ServerResponse) {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
    const write = request.method === 'POST';
    gateway.calls.push(`${request.method} ${pathname}`);
    const answer = (status: number, body: object, headers = {}) => {
      response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
    };
    const failure = write ? gateway.failures.shift() : undefined;
    if (failure)
      return answer(
        failure === 'TooManyRequestsException' ? 429 : 409,
        { message: 'busy' },
        { 'x-amzn-errortype': failure },
      );
    const body = text ? JSON.parse(text) : {};
    const refuse = (status: number, name: string) => answer(status, { message: name }, { 'x-amzn-errortype': name });
    // A page has a single item, so that tests fail if only the first page is read.
    const page = (items: readonly object[]) => {
      const from = Number(searchParams.get('position') ?? 0);
      return answer(200, {
        item: items.slice(from, from + 1),
        ...(from + 1 < items.length && { position: String(from + 1) }),
      });
    };
    const named = gateway.keys.filter(({ name }) => name.startsWith(searchParams.get('name') ?? ''));
    const [, collection, id = '', , keyId = ''] = pathname.split('/');
    if (collection === 'account')
      return answer(200, { throttleSettings: { rateLimit: region.rate }, cloudwatchRoleArn: region.logsRole });
    if (collection === '2016-08-19')
      return answer(200, {
        AccountLimit: {
          ConcurrentExecutions: region.concurrency,
          UnreservedConcurrentExecutions: region.unreserved,
          TotalCodeSize: 75 * 2 ** 30,
        },
        AccountUsage: { TotalCodeSize: region.codeBytes },
      });
    if (collection === 'apikeys' && write) {
      const key = { id: `id${gateway.made}`, name: body.name, value: body.value };
      gateway.made += 1;
      gateway.keys.push(key);
      return answer(201, key);
    }
    if (collection === 'apikeys' && request.method === 'DELETE') {
      if (gateway.refuseDeletions) return refuse(400, 'BadRequestException');
      if (!gateway.keys.some((key) => key.id === id)) return refuse(404, 'NotFoundException');
      gateway.keys = gateway.keys.filter((key) => key.id !== id);
      gateway.attached = gateway.attached.filter((attached) => attached !== id);
      return answer(202, {});
    }
    if (collection === 'apikeys') return page(named);
    if (write) {
      if (gateway.attached.includes(body.keyId)) return refuse(409, 'ConflictException');
      gateway.attached.push(body.keyId);
      return answer(201, { id: body.keyId });
    }
    if (id === '') return page([{ id: 'plan-of-others' }, { id: 'plan' }]);
    if (keyId !== '')
      return gateway.attached.includes(keyId) ? answer(200, { id: keyId }) : refuse(404, 'NotFoundException');
    return page(id === 'plan' ? named.filter((key) => gateway.attached.includes(key.id)) : []);
  }

  /** The query protocol of CloudFormation and STS. */
  function answerQuery(text: string, response: ServerResponse) {
    const form = new URLSearchParams(text);
    const xml = (status: number, body: string) => response.writeHead(status, { 'Content-Type': 'text/xml' }).end(body);
    if (form.get('Action') === 'GetCallerIdentity')
      return xml(
        200,
        '<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Arn>arn:aws:sts::123456789012:assumed-role/Operator/ada</Arn><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>',
      );
    const name = form.get('StackName');
    const known: Record<string, Record<string, string>> = {
      [stack.name]: stack.outputs,
      ...(region.bootstrap && { CDKToolkit: { BootstrapVersion: region.bootstrap } }),
    };
    const outputsOfStack = known[name ?? ''];
    if (!outputsOfStack)
      return xml(
        400,
        `<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error><Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id ${name} does not exist</Message></Error></ErrorResponse>`,
      );
    const outputs = Object.entries(outputsOfStack).map(
      ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
    );
    return xml(
      200,
      `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks><member><StackName>${name}</StackName><Outputs>${outputs.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`,
    );
  }

  const server = createServer(async (request, response) => {
    const query = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded');
    const sqs = String(request.headers['x-amz-target']).startsWith('AmazonSQS.');
    const [, action] =
      /^(?:GraniteServiceVersion20100801|Logs_20140328)\.(\w+)$/.exec(String(request.headers['x-amz-target'])) ?? [];
    let text = '';
    for await (const chunk of request) text += chunk;
    if (query) answerQuery(text, response);
    else if (sqs) answerSqs(text, response);
    else if (action !== undefined) response.end(JSON.stringify(replies[action]?.(JSON.parse(text)) ?? {}));
    else await answerApiGateway(request, text, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const dynamoDb = await startDynamoDbForAnyone();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  /** The environment in which the SDK uses this server, and the DynamoDB of the test run. */
  const environment = {
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: dynamoDb.url,
    AWS_ENDPOINT_URL_API_GATEWAY: url,
    AWS_ENDPOINT_URL_CLOUDFORMATION: url,
    AWS_ENDPOINT_URL_CLOUDWATCH: url,
    AWS_ENDPOINT_URL_CLOUDWATCH_LOGS: url,
    AWS_ENDPOINT_URL_LAMBDA: url,
    AWS_ENDPOINT_URL_SQS: url,
    AWS_ENDPOINT_URL_STS: url,
  };
  return {
    gateway,
    replies,
    region,
    url,
    setQueue: (attributes: typeof queue) => {
      queue = attributes;
    },
    environment,
    /** Sets the environment of this process. @returns a function that restores it */
    enter() {
      const before = { ...process.env };
      Object.assign(process.env, environment);
      return () => {
        // In place, since modules that were loaded meanwhile refer to this object.
        for (const name of Object.keys(environment))
          if (before[name] === undefined) delete process.env[name];
          else process.env[name] = before[name];
      };
    },
    forget: () => Object.assign(gateway, { keys: [], made: 0, attached: [], calls: [], failures: [] }),
    close() {
      dynamoDb.close();
      server.close();
    },
  };
}
