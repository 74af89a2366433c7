import type { Deployment } from './deployment.ts';
import { isLocalGatewayKey } from './gateway-keys.ts';
import type { UsagePlan } from './throttles.ts';
import { createTokenBuckets, type Throttle } from './token-buckets.ts';

/** What API Gateway makes of a gateway key: it counts the call, refuses it, or does not know the key. */
export type Verdict = 'passed' | 'throttled' | 'unknown key';

const MOST_BUCKETS = 10_000;

/**
 * API Gateway's throttles on one machine: a token bucket of each key for each method, then one of the stage for each method.
 * @param now milliseconds that never go back
 */
export function createUsagePlans(
  { accountPlan, otherPlans, stageThrottles }: Pick<Deployment, 'accountPlan' | 'otherPlans' | 'stageThrottles'>,
  now: () => number = () => performance.now(),
) {
  const bucketOf = createTokenBuckets(MOST_BUCKETS, now);

  function take(name: string, throttle: Throttle): boolean {
    const bucket = bucketOf(name, throttle);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  const planOf = (key: string): UsagePlan | undefined =>
    isLocalGatewayKey(key) ? accountPlan : otherPlans.find(({ keys }) => keys.includes(key));

  function admitToStage(method: string): Verdict {
    const ofAnyMethod = method.replace(/[^/]*$/, '*');
    const throttle = stageThrottles.methods[method] ?? stageThrottles.methods[ofAnyMethod] ?? stageThrottles.others;
    return take(`stage ${method}`, throttle) ? 'passed' : 'throttled';
  }

  return {
    /** For a method that asks for a gateway key. @param method such as `/alert/merge/POST` */
    admit(key: string, method: string): Verdict {
      const plan = planOf(key);
      if (!plan) return 'unknown key';
      const throttle = plan.throttles[method];
      return !throttle || take(`${key} ${method}`, throttle) ? admitToStage(method) : 'throttled';
    },
    /** For a method that asks for none. */
    admitToStage,
  };
}
