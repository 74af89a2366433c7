import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type Deployment, readDeployment } from '../../infra/local/deployment.ts';
import { createGateway } from '../../infra/local/gateway.ts';
import { matches } from '../../infra/local/stream.ts';
import { type Resource, resourcesOf, routesOf, synthesize, type Template } from '../../infra/local/template.ts';
import { createUsagePlans } from '../../infra/local/usage-plans.ts';
import { operations } from '../../lib/api/operations.ts';

const template = synthesize();
const deployment = readDeployment(template, 'a-table');
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

const OK = { statusCode: 200, headers: {}, body: '{"request_id":"r","data":null}' };
const allow = (usageIdentifierKey: string) => ({
  principalId: '1',
  policyDocument: { Version: '2012-10-17', Statement: [{ Action: 'a', Effect: 'Allow', Resource: '*' }] },
  usageIdentifierKey,
});

/** The gateway over functions that only say that they were called. */
async function started(of: Deployment, label: () => unknown = () => allow('local-account-1'), answer = async () => OK) {
  const called: string[] = [];
  const functions = Object.fromEntries(
    Object.keys(of.functions).map((name) => [
      name,
      {
        async invoke() {
          called.push(name);
          return name === 'label-caller' ? label() : answer();
        },
      },
    ]),
  );
  const server = createGateway({ deployment: of, functions });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => server.close());
  const post = async (path: string, init: RequestInit = {}) => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
    const response = await fetch(url, { method: 'POST', ...init });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return { called, post };
}

const edited = (edit: (template: Template) => void): Deployment => {
  const copy = structuredClone(template);
  edit(copy);
  return readDeployment(copy, 'a-table');
};
const responseOf = (of: Template, type: string): Resource => {
  const found = Object.values(resourcesOf(of, 'AWS::ApiGateway::GatewayResponse')).find(
    ({ Properties }) => Properties.ResponseType === type,
  );
  if (!found) throw new Error(`no response ${type}`);
  return found;
};
const textOf = (type: string, requestId: string) =>
  responseOf(template, type).Properties.ResponseTemplates['application/json'].replaceAll(
    '$context.requestId',
    requestId,
  );

describe('the local gateway does what the template says', () => {
  it('calls the function of a route, and the refusal where there is none', async () => {
    const { called, post } = await started(deployment);
    for (const { path } of operations) await post(`${path}?app_key=k`);
    await post('/nowhere?app_key=k');
    expect(called).toEqual(['label-caller', ...operations.map(({ name }) => name), 'refuse-route']);
  });

  it('has no route that the template does not have', async () => {
    const { called, post } = await started(
      edited((copy) => {
        for (const [id, method] of Object.entries(resourcesOf(copy, 'AWS::ApiGateway::Method')))
          if (JSON.stringify(method) === JSON.stringify(routesOf(copy).get('POST /alert/merge')))
            delete copy.Resources[id];
      }),
    );
    await post('/alert/merge?app_key=k');
    expect(called).toEqual(['refuse-route']);
  });

  it('refuses a call without a key in the words of UNAUTHORIZED, without calling anything', async () => {
    const { called, post } = await started(deployment);
    for (const path of ['/alert/merge', '/alert/merge?app_key=']) {
      const { status, headers, text } = await post(path);
      const id = headers.get('svc-request-id') ?? '';
      expect(status).toBe(401);
      expect(text).toBe(textOf('UNAUTHORIZED', id));
    }
    expect(called).toEqual([]);
  });

  it('has no text of its own: other words in the template are other words in the answer', async () => {
    const { post } = await started(
      edited((copy) => {
        responseOf(copy, 'UNAUTHORIZED').Properties.ResponseTemplates['application/json'] =
          '{"error":{"code":"x"},"id":"$context.requestId"}';
      }),
    );
    const { headers, text } = await post('/alert/merge');
    expect(JSON.parse(text)).toEqual({ error: { code: 'x' }, id: headers.get('svc-request-id') });
  });

  it('asks the authorizer once for a key, and again when it failed', async () => {
    let fails = true;
    const { called, post } = await started(deployment, () => {
      if (fails) throw new Error('no');
      return allow('local-account-1');
    });
    const refused = await post('/alert/merge?app_key=k');
    expect(refused.status).toBe(503);
    expect(refused.text).toBe(textOf('AUTHORIZER_FAILURE', refused.headers.get('svc-request-id') ?? ''));
    fails = false;
    await post('/alert/merge?app_key=k');
    await post('/rum/resource/info?app_key=k');
    await post('/rum/resource/info?app_key=other');
    expect(called.filter((name) => name === 'label-caller')).toHaveLength(3);
  });

  it('throttles strangers together, in the words of THROTTLED with Retry-After, and calls no function then', async () => {
    const shared = deployment.functions['label-caller']?.environment.SHARED_GATEWAY_KEY ?? '';
    const { called, post } = await started(deployment, () => allow(shared));
    const answers = await Promise.all(Array.from({ length: 60 }, () => post('/alert/merge?app_key=k')));
    const refused = answers.filter(({ status }) => status === 429);
    // A burst of 20, and 10 more a second.
    expect(refused.length).toBeGreaterThan(20);
    expect(called.filter((name) => name === 'merge-alerts')).toHaveLength(60 - refused.length);
    for (const { headers, text } of refused) {
      expect(headers.get('retry-after')).toBe('1');
      expect(text).toBe(textOf('THROTTLED', headers.get('svc-request-id') ?? ''));
    }
  });

  it('does not know a gateway key that no plan has', async () => {
    const { post } = await started(deployment, () => allow('a-key-of-nobody'));
    const { status, headers, text } = await post('/alert/merge?app_key=k');
    expect(status).toBe(503);
    expect(text).toBe(textOf('INVALID_API_KEY', headers.get('svc-request-id') ?? ''));
  });

  it('answers for a function that ends without an answer, and for a body over 10 MB', async () => {
    const { post } = await started(deployment, undefined, () => Promise.reject(new Error('secret')));
    const { status, headers, text } = await post('/alert/merge?app_key=k');
    expect(status).toBe(500);
    expect(text).toBe(textOf('DEFAULT_5XX', headers.get('svc-request-id') ?? ''));
    const large = await post('/alert/merge?app_key=k', { body: Buffer.alloc(10 * 1024 * 1024 + 1) });
    expect(large.text).toBe(textOf('REQUEST_TOO_LARGE', large.headers.get('svc-request-id') ?? ''));
  });

  it('gives each function the environment of the template, and refuses what it cannot know', () => {
    expect(deployment.functions['browse-fleet']?.environment).toMatchObject({
      TABLE_NAME: 'a-table',
      MAX_BODY_BYTES: '262144',
    });
    expect(() =>
      edited((copy) => {
        for (const { Properties } of Object.values(resourcesOf(copy, 'AWS::Lambda::Function')))
          Properties.Environment = { Variables: { WHERE: { 'Fn::GetAtt': ['Other', 'Arn'] } } };
      }),
    ).toThrow('the value of WHERE is known on AWS only');
  });
});

describe('the usage plans', () => {
  it('admit the rate and the burst of the template, for each account and method on its own', () => {
    const clock = { now: 0 };
    const plans = createUsagePlans(deployment, () => clock.now);
    const admitted = (key: string, method: string, calls: number) =>
      Array.from({ length: calls }, () => plans.admit(key, method)).filter((verdict) => verdict === 'passed').length;
    for (const { path, throttle } of operations) {
      const method = `${path}/POST`;
      for (const key of ['local-account-1', 'local-account-2'])
        expect(admitted(key, method, 3 * throttle.burst)).toBe(throttle.burst);
      clock.now += 1000;
      expect(admitted('local-account-1', method, 3 * throttle.burst)).toBe(throttle.rate);
    }
  });

  it('keep the stage to its throttle, whoever calls', () => {
    const plans = createUsagePlans({ ...deployment, stageThrottle: { rate: 1, burst: 3 } }, () => 0);
    const verdicts = [1, 2, 3, 4].map((account) => plans.admit(`local-account-${account}`, '/alert/merge/POST'));
    expect(verdicts).toEqual(['passed', 'passed', 'passed', 'throttled']);
  });
});

describe('the filter of the table stream', () => {
  it('lets through what was inserted with its moves pending, and nothing else', () => {
    const [pattern] = deployment.stream.patterns;
    const record = (eventName: string, NewImage: object | undefined) => ({ eventName, dynamodb: { NewImage } });
    expect(matches(pattern, record('INSERT', { pending: { BOOL: true }, pk: { S: 'x' } }))).toBe(true);
    expect(matches(pattern, record('MODIFY', { pending: { BOOL: true } }))).toBe(false);
    expect(matches(pattern, record('INSERT', { pending: { BOOL: false } }))).toBe(false);
    expect(matches(pattern, record('INSERT', {}))).toBe(false);
    expect(matches(pattern, record('REMOVE', undefined))).toBe(false);
  });
});
