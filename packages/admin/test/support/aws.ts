/**
 * A server in place of AWS, for the calls that the operator's command and the gateway keys make: API Gateway,
 * CloudFormation, CloudWatch, Lambda, SQS, STS.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { afterAll, inject, vi } from 'vitest';
import { Endpoint } from '../../../../lib/aws/endpoint.ts';
import { dynamodbEndpoint } from '../../../../test/support/dynamodb-local.ts';
import { listen } from '../../../../test/support/listen.ts';
import { startDynamoDbProxy } from '../../../local/dynamodb-proxy.ts';
import type { Resource, Template } from '../../../local/template.ts';

/** The answers to the actions of AWS's JSON protocols; by default an empty object. One with `__type` is an error of that name. */
type JsonAnswers = Record<string, (input: Record<string, unknown>) => object>;

const xmlOf = (action: string, content: string) =>
  `<${action}Response><${action}Result>${content}</${action}Result></${action}Response>`;

/** The physical id of a resource: its name, which begins with that of the stack, `Service`, or what CloudFormation makes of both names. */
const physicalIdOf = (stack: string, id: string, { Properties }: Resource): string =>
  Properties?.AlarmName?.replace('Service', stack) ?? `${stack}-${id}-1ABCDEFGHIJKL`;

/** The alarms of the synthesized template, by the names that they have on AWS. */
export const alarmsOnAws = (stack: string): Map<string, Resource> =>
  new Map(
    Object.entries(inject('template').Resources).flatMap(([id, resource]) =>
      /^AWS::CloudWatch::(Composite)?Alarm$/.test(resource.Type)
        ? [[physicalIdOf(stack, id, resource), resource] as const]
        : [],
    ),
  );

export interface FakeStack {
  /** Absent: the stack does not exist. */
  outputs?: Record<string, string>;
  parameters?: Record<string, string>;
  /** By default those of the synthesized template. */
  resources?: Template['Resources'];
  status?: string;
}

/**
 * Starts a server in place of AWS, which the SDK of this process uses until the tests of the file have run.
 * @param stacks by their names
 */
export async function enterFakeAws(stacks: Readonly<Record<string, FakeStack>> = {}) {
  const gateway = {
    keys: [] as { id: string; name: string; value: string }[],
    keysMade: 0,
    attached: [] as string[],
    calls: [] as string[],
    /** Error names to answer the next writes with, before they are applied. */
    failures: [] as string[],
    isAllowed: (_method: string, _path: string) => true,
    /** Of reads of keys. */
    readFailures: [] as string[],
  };

  /** The limits and settings of the account and region, as `preflight` reads them. */
  const region = {
    ...{ concurrency: 1_000, unreserved: 1_000, gatewayKeys: 1, usagePlans: 2, rate: 10_000, bootstrap: '30' },
    logsRole: undefined as string | undefined,
  };

  /** The attributes of every queue, or the name of the error that SQS answers with. */
  let queue: Record<string, string> | string = {};
  /** The answers of SQS, CloudWatch and CloudWatch Logs. */
  const replies: JsonAnswers = {
    GetQueueAttributes({ AttributeNames = [] }) {
      if (typeof queue === 'string') return { __type: queue, message: 'You may not.' };
      const asked = Object.entries(queue).filter(([name]) => (AttributeNames as string[]).includes(name));
      return { Attributes: Object.fromEntries(asked) };
    },
  };

  function answerJson(request: IncomingMessage, text: string, response: ServerResponse) {
    const action = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    const answer = replies[action]?.(JSON.parse(text)) ?? {};
    response.writeHead('__type' in answer ? 400 : 200, { 'Content-Type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify(answer));
  }

  function answerRest(request: IncomingMessage, text: string, response: ServerResponse) {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x');
    const [, collection = '', id = '', , keyId = ''] = pathname.split('/');
    const answer = (status: number, body: object, headers = {}) =>
      response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
    const refuse = (status: number, name: string) => answer(status, { message: name }, { 'x-amzn-errortype': name });
    // A page has a single item, so that tests fail if only the first page is read. `preflight` counts all of a region.
    const page = (items: readonly object[], counted?: number) => {
      if (
        counted !== undefined &&
        searchParams.get('limit') === '500' &&
        !searchParams.has('includeValues') &&
        !searchParams.has('name')
      )
        return answer(200, { item: Array.from({ length: counted }, () => ({})) });
      const from = Number(searchParams.get('position') ?? 0);
      const position = from + 1 < items.length ? String(from + 1) : undefined;
      return answer(200, { item: items.slice(from, from + 1), position });
    };
    const named = gateway.keys.filter(({ name }) => name.startsWith(searchParams.get('name') ?? ''));
    const isAttached = (key: { id: string }) => gateway.attached.includes(key.id);
    const body = text ? JSON.parse(text) : {};
    const routes: Record<string, () => unknown> = {
      'GET account': () =>
        answer(200, { throttleSettings: { rateLimit: region.rate }, cloudwatchRoleArn: region.logsRole }),
      'GET 2016-08-19': () =>
        answer(200, {
          AccountLimit: { ConcurrentExecutions: region.concurrency, UnreservedConcurrentExecutions: region.unreserved },
        }),
      'GET apikeys': () => page(named, region.gatewayKeys),
      'POST apikeys'() {
        const key = { id: `id${gateway.keysMade}`, name: body.name, value: body.value };
        gateway.keysMade += 1;
        gateway.keys.push(key);
        return answer(201, key);
      },
      'DELETE apikeys'() {
        if (!gateway.keys.some((key) => key.id === id)) return refuse(404, 'NotFoundException');
        gateway.keys = gateway.keys.filter((key) => key.id !== id);
        gateway.attached = gateway.attached.filter((attached) => attached !== id);
        return answer(202, {});
      },
      'GET usageplans'() {
        if (id === '') return page([{ id: 'plan-of-others' }, { id: 'plan' }], region.usagePlans);
        if (keyId === '') return page(id === 'plan' ? named.filter(isAttached) : []);
        return isAttached({ id: keyId }) ? answer(200, { id: keyId }) : refuse(404, 'NotFoundException');
      },
      'POST usageplans'() {
        if (isAttached({ id: body.keyId })) return refuse(409, 'ConflictException');
        gateway.attached.push(body.keyId);
        return answer(201, { id: body.keyId });
      },
    };
    gateway.calls.push(`${request.method} ${pathname}`);
    const failure = (request.method === 'GET' ? gateway.readFailures : gateway.failures).shift();
    if (!gateway.isAllowed(String(request.method), pathname)) refuse(403, 'AccessDeniedException');
    else if (failure) refuse(409, failure);
    else routes[`${request.method} ${collection}`]?.();
  }

  /** The query protocol of CloudFormation and STS. */
  function answerQuery(text: string, response: ServerResponse) {
    const form = new URLSearchParams(text);
    const xml = (status: number, body: string) => response.writeHead(status, { 'Content-Type': 'text/xml' }).end(body);
    if (form.get('Action') === 'GetCallerIdentity') {
      const arn = 'arn:aws:sts::123456789012:assumed-role/Operator/ada';
      return xml(200, xmlOf('GetCallerIdentity', `<Arn>${arn}</Arn><Account>123456789012</Account>`));
    }
    const name = form.get('StackName') ?? '';
    if (form.get('Action') === 'ListStackResources') {
      const all = Object.entries(stacks[name]?.resources ?? inject('template').Resources);
      const from = Number(form.get('NextToken') ?? 0);
      // A page of AWS has 100.
      const members = all.slice(from, from + 100).map(([id, resource]) => {
        const ids = `<PhysicalResourceId>${physicalIdOf(name, id, resource)}</PhysicalResourceId>`;
        return `<member>${ids}<ResourceType>${resource.Type}</ResourceType></member>`;
      });
      const next = from + 100 < all.length ? `<NextToken>${from + 100}</NextToken>` : '';
      const listed = `<StackResourceSummaries>${members.join('')}</StackResourceSummaries>${next}`;
      return xml(200, xmlOf('ListStackResources', listed));
    }
    const bootstrap = region.bootstrap && { CDKToolkit: { outputs: { BootstrapVersion: region.bootstrap } } };
    const { outputs, parameters = {}, status = 'UPDATE_COMPLETE' }: FakeStack = { ...stacks, ...bootstrap }[name] ?? {};
    if (!outputs) {
      const message = `<Message>Stack with id ${name} does not exist</Message>`;
      return xml(400, `<ErrorResponse><Error><Code>ValidationError</Code>${message}</Error></ErrorResponse>`);
    }
    const listOf = (what: 'Output' | 'Parameter', values: Record<string, string>) => {
      const members = Object.entries(values).map(
        ([key, value]) => `<member><${what}Key>${key}</${what}Key><${what}Value>${value}</${what}Value></member>`,
      );
      return `<${what}s>${members.join('')}</${what}s>`;
    };
    const lists = `${listOf('Output', outputs)}${listOf('Parameter', parameters)}`;
    const member = `<member><StackName>${name}</StackName><StackStatus>${status}</StackStatus>${lists}</member>`;
    return xml(200, xmlOf('DescribeStacks', `<Stacks>${member}</Stacks>`));
  }

  const server = createServer(async (request, response) => {
    const text = await textOf(request);
    if (request.headers['x-amz-target'] !== undefined) answerJson(request, text, response);
    else if (request.headers['content-type']?.startsWith('application/x-www-form-urlencoded'))
      answerQuery(text, response);
    else answerRest(request, text, response);
  });
  const url = `http://127.0.0.1:${await listen(server)}`;
  // DynamoDB Local keeps separate tables for each access key and region: here all callers see those of this run.
  const { accessKeyId } = new Endpoint(dynamodbEndpoint()).credentials;
  const dynamoDb = await startDynamoDbProxy(
    dynamodbEndpoint(),
    (_call, send) => send(),
    (signed) => signed.replace(/Credential=[^/]*\/(\d+)\/[^/]*/, `Credential=${accessKeyId}/$1/local`),
  );
  const endpoints = { AWS_ENDPOINT_URL: url, AWS_ENDPOINT_URL_DYNAMODB: new Endpoint(dynamoDb.endpoint).url };
  const environment = { AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local', ...endpoints };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  afterAll(async () => {
    vi.unstubAllEnvs();
    server.close();
    await dynamoDb.close();
  });
  return {
    ...{ gateway, replies, region, url },
    setQueue: (attributes: typeof queue) => {
      queue = attributes;
    },
    /** Deletes the gateway keys, and the records of calls and planned failures. */
    resetGateway: () =>
      Object.assign(gateway, { keys: [], keysMade: 0, attached: [], calls: [], failures: [], readFailures: [] }),
  };
}
