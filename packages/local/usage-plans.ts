import { isLocalGatewayKey } from '../admin/local-service/local-gateway-keys.ts';
import { createTokenBuckets, type Throttle } from './token-buckets.ts';

/** A usage plan: the gateway keys that the template attaches to it, and its throttles by `/path/METHOD`. */
export interface UsagePlan {
  readonly keys: readonly string[];
  readonly throttles: Readonly<Record<string, Throttle>>;
}

export interface UsagePlans {
  /** The plan of the accounts' gateway keys, which the admin command attaches to it. */
  readonly accountPlan: UsagePlan;
  readonly otherPlans: readonly UsagePlan[];
}

const MAX_BUCKETS = 10_000;

/**
 * The throttles of usage plans: a token bucket for each gateway key and method. The throttles of the stage, which bound the cost of a flood
 * on AWS, do not apply on one machine.
 * @param now a monotonic clock in milliseconds
 * @returns a function that says whether a call with a gateway key passes. `method` is `/path/METHOD`
 */
export function createUsagePlans({ accountPlan, otherPlans }: UsagePlans, now = () => performance.now()) {
  const bucketOf = createTokenBuckets(MAX_BUCKETS, now);
  return (key: string, method: string): 'passed' | 'throttled' | 'unknown key' => {
    const plan = isLocalGatewayKey(key) ? accountPlan : otherPlans.find(({ keys }) => keys.includes(key));
    if (!plan) return 'unknown key';
    const throttle = plan.throttles[method];
    if (!throttle) return 'passed';
    const bucket = bucketOf(`${key} ${method}`, throttle);
    if (bucket.tokens < 1) return 'throttled';
    bucket.tokens -= 1;
    return 'passed';
  };
}
