import { isLocalGatewayKey } from '../admin/local-service/local-gateway-keys.ts';
import { createTokenBuckets, type Throttle } from './token-buckets.ts';

/** A usage plan: the gateway keys that the template attaches to it, and its throttles by `/path/METHOD`. */
export interface UsagePlan {
  readonly keys: readonly string[];
  readonly throttles: Readonly<Record<string, Throttle>>;
}

export interface Throttles {
  /** The plan of the accounts' gateway keys, which the admin command attaches to it. */
  readonly accountPlan: UsagePlan;
  readonly otherPlans: readonly UsagePlan[];
  /** The stage's throttles by `/path/METHOD`, and the one for every other method. */
  readonly stageThrottles: { readonly methods: Readonly<Record<string, Throttle>>; readonly others: Throttle };
}

/** Whether a call passes the throttles and, if it needs one, has a known gateway key. */
export type Verdict = 'passed' | 'throttled' | 'unknown key';

const MAX_BUCKETS = 10_000;

/**
 * API Gateway's throttles: a token bucket for each key and method, then one of the stage for each method.
 * @param now a monotonic clock in milliseconds
 */
export function createUsagePlans(
  { accountPlan, otherPlans, stageThrottles }: Throttles,
  now: () => number = () => performance.now(),
) {
  const bucketOf = createTokenBuckets(MAX_BUCKETS, now);

  function take(name: string, throttle: Throttle): boolean {
    const bucket = bucketOf(name, throttle);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  }

  const planOf = (key: string): UsagePlan | undefined =>
    isLocalGatewayKey(key) ? accountPlan : otherPlans.find(({ keys }) => keys.includes(key));

  /** @param method `/path/METHOD` */
  function admitToStage(method: string): Verdict {
    const anyMethodOfPath = method.replace(/[^/]*$/, '*');
    const throttle = stageThrottles.methods[method] ?? stageThrottles.methods[anyMethodOfPath] ?? stageThrottles.others;
    return take(`stage ${method}`, throttle) ? 'passed' : 'throttled';
  }

  return {
    /** For a method that requires a gateway key. @param method `/path/METHOD` */
    admit(key: string, method: string): Verdict {
      const plan = planOf(key);
      if (!plan) return 'unknown key';
      const throttle = plan.throttles[method];
      return !throttle || take(`${key} ${method}`, throttle) ? admitToStage(method) : 'throttled';
    },
    /** For a method that requires no gateway key. */
    admitToStage,
  };
}
