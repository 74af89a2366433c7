import { describe, expect, it } from 'vitest';
import { operations } from '../../lib/operations/index.ts';
import { createUsagePlans } from '../../packages/local/usage-plans.ts';
import { allow, deployment, edited, startGateway } from './fake-functions.ts';

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
    const admit = createUsagePlans(deployment, () => clock.now);
    const admitted = (key: string, method: string, calls: number) =>
      Array.from({ length: calls }, () => admit(key, method)).filter((verdict) => verdict === 'passed').length;
    for (const { path, throttle } of operations) {
      const method = `${path}/POST`;
      for (const key of ['local-account-1', 'local-account-2'])
        expect(admitted(key, method, 3 * throttle.burst)).toBe(throttle.burst);
      clock.now += 1000;
      expect(admitted('local-account-1', method, 3 * throttle.burst)).toBe(throttle.rate);
    }
  });
});
