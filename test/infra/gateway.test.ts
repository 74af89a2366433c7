import { describe, expect, it } from 'vitest';
import { operations } from '../../lib/http/operations.ts';
import type { Deployment } from '../../packages/local/deployment.ts';
import { createUsagePlans } from '../../packages/local/usage-plans.ts';
import { allow, deployment, edited, startGateway } from '../support/fake-functions.ts';

const MERGE = '/alert/merge?app_key=k';
const clock = { now: 0 };

/** A deployment whose gateway responses say which type they are. */
const labelled = edited('ApiGateway::GatewayResponse', (response) => {
  response.ResponseTemplates['application/json'] = `{"type":"${response.ResponseType}","id":"$context.requestId"}`;
});
type Answer = Awaited<ReturnType<Awaited<ReturnType<typeof startGateway>>['post']>>;
function expectResponse({ status, text, headers }: Answer, expectedStatus: number, type: string): void {
  expect([status, JSON.parse(text)]).toEqual([expectedStatus, { type, id: headers.get('svc-request-id') }]);
}

describe('the local gateway does what the template says', () => {
  it('calls the function of a route, or fallback-route', async () => {
    const { called, post } = await startGateway();
    for (const { path } of operations) await post(`${path}?app_key=k`);
    await post('/nowhere?app_key=k');
    expect(called).toEqual(['usage-key-authorizer', ...operations.map(({ name }) => name), 'fallback-route']);
  });

  it('asks the authorizer once for a key, and again when it failed', async () => {
    let fails = true;
    const { called, post } = await startGateway(labelled, {
      authorize() {
        if (fails) throw new Error('no');
        return allow('local-account-1');
      },
    });
    expectResponse(await post(MERGE), 503, 'DEFAULT_5XX');
    fails = false;
    for (const path of [MERGE, '/rum/resource/info?app_key=k', '/rum/resource/info?app_key=other']) await post(path);
    expect(called.filter((name) => name === 'usage-key-authorizer')).toHaveLength(3);
  });

  it('caches the denial of an authorizer as it caches an approval', async () => {
    const { policyDocument, ...result } = allow('local-account-1');
    const Statement = policyDocument.Statement.map((statement) => ({ ...statement, Effect: 'Deny' as const }));
    const { called, post } = await startGateway(labelled, {
      authorize: () => ({ ...result, policyDocument: { ...policyDocument, Statement } }),
    });
    for (const answer of [await post(MERGE), await post(MERGE)]) expectResponse(answer, 403, 'ACCESS_DENIED');
    expect(called).toEqual(['usage-key-authorizer']);
  });

  it('throttles unknown callers together, as THROTTLED with Retry-After, and calls no function then', async () => {
    const shared = deployment.functions['usage-key-authorizer']?.environment.SHARED_GATEWAY_KEY ?? '';
    const throttles = { '/alert/merge/POST': { rate: 0.001, burst: 20 } };
    const otherPlans = labelled.otherPlans.map((plan) => ({ ...plan, throttles }));
    const { called, post } = await startGateway({ ...labelled, otherPlans }, { authorize: () => allow(shared) });
    const answers = await Promise.all(Array.from({ length: 60 }, () => post(MERGE)));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(40);
    expect(called.filter((name) => name === 'merge-alerts')).toHaveLength(20);
    for (const answer of refused) {
      expect(answer.headers.get('retry-after')).toBe('1');
      expectResponse(answer, 429, 'THROTTLED');
    }
  });

  it.each([
    ['INVALID_API_KEY', 'a gateway key that is in no plan', { authorize: () => allow('a-key-of-nobody') }],
    ['DEFAULT_5XX', 'a function that fails', { answer: () => Promise.reject(new Error('secret')) }],
  ])('answers 503 as %s for %s', async (type, _what, functions) => {
    const { post } = await startGateway(labelled, functions);
    expectResponse(await post(MERGE), 503, type);
  });

  it('gives each function the environment of the template, and refuses what it cannot know', () => {
    const { environment } = deployment.functions['browse-fleet'] ?? {};
    expect(environment).toMatchObject({ TABLE_NAME: 'a-table', MAX_BODY_BYTES: '262144' });
    expect(() =>
      edited('Lambda::Function', (properties) => {
        properties.Environment = { Variables: { WHERE: { 'Fn::GetAtt': ['Other', 'Arn'] } } };
      }),
    ).toThrow('the value of WHERE is known on AWS only');
  });
});

describe('the usage plans', () => {
  it('admit the rate and the burst of the template, for each account and method on its own', () => {
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

  it('do not count what a usage plan refuses against the throttle of a method of the stage', () => {
    const { burst } = operations[3].throttle;
    const plans = plansWith({ others: throttled(0, burst + 1), methods: {} });
    for (let call = 0; call < 3 * burst; call += 1) plans.admit('local-account-1', '/alert/merge/POST');
    expect(plans.admit('local-account-2', '/alert/merge/POST')).toBe('passed');
    expect(plans.admit('local-account-2', '/alert/merge/POST')).toBe('throttled');
  });

  it("read the stage's throttles of single methods from the template, and apply them to routes without a key", async () => {
    const limit = (ResourcePath: string, HttpMethod: string, ThrottlingBurstLimit: number) => ({
      ...{ ResourcePath, HttpMethod, ThrottlingBurstLimit, ThrottlingRateLimit: 0.001 },
    });
    const { post, sendRaw } = await startGateway(
      edited('ApiGateway::Stage', ({ MethodSettings }) => {
        MethodSettings.push(limit('/~1openapi.json', 'GET', 1), limit('/~1{proxy+}', '*', 2));
      }),
    );
    const documentAnswers = [await sendRaw('GET /openapi.json HTTP/1.1'), await sendRaw('GET /openapi.json HTTP/1.1')];
    expect(documentAnswers.map(({ status }) => status)).toEqual([200, 429]);
    const others = [await post('/a'), await post('/b'), await post('/c')];
    expect(others.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect((await post('/alert/merge?app_key=k')).status).toBe(200);
  });
});
