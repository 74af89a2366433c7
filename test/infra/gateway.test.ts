import { afterEach, describe, expect, it } from 'vitest';
import { operations } from '../../lib/http/operations.ts';
import type { Deployment } from '../../packages/local/deployment.ts';
import { type Resource, resourcesOf, routesOf, type Template } from '../../packages/local/template.ts';
import { createUsagePlans } from '../../packages/local/usage-plans.ts';
import { allow, deployment, edited, startGateway, template } from '../support/fake-functions.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** Starts a gateway that stops when the test ends. */
const started: typeof startGateway = async (...args) => {
  const gateway = await startGateway(...args);
  stops.push(gateway.stop);
  return gateway;
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
  it('calls the function of a route, or fallback-route', async () => {
    const { called, post } = await started(deployment);
    for (const { path } of operations) await post(`${path}?app_key=k`);
    await post('/nowhere?app_key=k');
    expect(called).toEqual(['usage-key-authorizer', ...operations.map(({ name }) => name), 'fallback-route']);
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
    expect(called).toEqual(['fallback-route']);
  });

  it('refuses a call without a key with the body of UNAUTHORIZED, and calls no function', async () => {
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
    const { called, post } = await started(deployment, {
      label() {
        if (fails) throw new Error('no');
        return allow('local-account-1');
      },
    });
    const refused = await post('/alert/merge?app_key=k');
    expect(refused.status).toBe(503);
    expect(refused.text).toBe(textOf('AUTHORIZER_FAILURE', refused.headers.get('svc-request-id') ?? ''));
    fails = false;
    await post('/alert/merge?app_key=k');
    await post('/rum/resource/info?app_key=k');
    await post('/rum/resource/info?app_key=other');
    expect(called.filter((name) => name === 'usage-key-authorizer')).toHaveLength(3);
  });

  it('throttles unknown callers together, with the body of THROTTLED and Retry-After, and calls no function then', async () => {
    const shared = deployment.functions['usage-key-authorizer']?.environment.SHARED_GATEWAY_KEY ?? '';
    const otherPlans = deployment.otherPlans.map((plan) => ({
      ...plan,
      throttles: { '/alert/merge/POST': { rate: 0.001, burst: 20 } },
    }));
    const { called, post } = await started({ ...deployment, otherPlans }, { label: () => allow(shared) });
    const answers = await Promise.all(Array.from({ length: 60 }, () => post('/alert/merge?app_key=k')));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(40);
    expect(called.filter((name) => name === 'merge-alerts')).toHaveLength(20);
    for (const { headers, text } of refused) {
      expect(headers.get('retry-after')).toBe('1');
      expect(text).toBe(textOf('THROTTLED', headers.get('svc-request-id') ?? ''));
    }
  });

  it('refuses a gateway key that is in no plan with the body of INVALID_API_KEY', async () => {
    const { post } = await started(deployment, { label: () => allow('a-key-of-nobody') });
    const { status, headers, text } = await post('/alert/merge?app_key=k');
    expect(status).toBe(503);
    expect(text).toBe(textOf('INVALID_API_KEY', headers.get('svc-request-id') ?? ''));
  });

  it('answers with the body of DEFAULT_5XX for a function that fails', async () => {
    const { post } = await started(deployment, { answer: () => Promise.reject(new Error('secret')) });
    const { status, headers, text } = await post('/alert/merge?app_key=k');
    expect(status).toBe(503);
    expect(text).toBe(textOf('DEFAULT_5XX', headers.get('svc-request-id') ?? ''));
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

  const clock = { now: 0 };
  const throttled = (rate: number, burst: number) => ({ rate, burst });
  const plansWith = (stageThrottles: Deployment['stageThrottles']) =>
    createUsagePlans({ ...deployment, stageThrottles }, () => clock.now);

  it('keep each method of the stage to a throttle of its own, whoever calls', () => {
    const plans = plansWith({ others: throttled(1, 3), methods: { '/openapi.json/GET': throttled(1, 1) } });
    const merges = [1, 2, 3, 4].map((account) => plans.admit(`local-account-${account}`, '/alert/merge/POST'));
    expect(merges).toEqual(['passed', 'passed', 'passed', 'throttled']);
    expect(plans.admit('local-account-1', '/rum/resource/info/POST')).toBe('passed');
    expect([1, 2].map(() => plans.admitToStage('/openapi.json/GET'))).toEqual(['passed', 'throttled']);
    expect([1, 2, 3, 4].map(() => plans.admitToStage('/{proxy+}/ANY'))).toEqual(merges);
  });

  it('count what a usage plan refuses against no method of the stage', () => {
    const { burst } = operations[3].throttle;
    const plans = plansWith({ others: throttled(0, burst + 1), methods: {} });
    for (let call = 0; call < 3 * burst; call += 1) plans.admit('local-account-1', '/alert/merge/POST');
    expect(plans.admit('local-account-2', '/alert/merge/POST')).toBe('passed');
    expect(plans.admit('local-account-2', '/alert/merge/POST')).toBe('throttled');
  });

  it("read the stage's throttles of single methods from the template, and apply them to routes without a key", async () => {
    const { post, sent } = await started(
      edited((copy) => {
        for (const { Properties } of Object.values(resourcesOf(copy, 'AWS::ApiGateway::Stage')))
          Properties.MethodSettings.push(
            {
              ResourcePath: '/~1openapi.json',
              HttpMethod: 'GET',
              ThrottlingRateLimit: 0.001,
              ThrottlingBurstLimit: 1,
            },
            { ResourcePath: '/~1{proxy+}', HttpMethod: '*', ThrottlingRateLimit: 0.001, ThrottlingBurstLimit: 2 },
          );
      }),
    );
    const described = [await sent('GET /openapi.json HTTP/1.1'), await sent('GET /openapi.json HTTP/1.1')];
    expect(described.map(({ status }) => status)).toEqual([200, 429]);
    const refused = [await post('/a'), await post('/b'), await post('/c')];
    expect(refused.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect((await post('/alert/merge?app_key=k')).status).toBe(200);
  });
});
