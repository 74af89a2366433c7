import { AlarmRule, type IMetric, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { chunksOf } from '../lib/shared/concurrency.ts';
import type { Alarms } from './alarms.ts';
import type { FunctionName } from './grants.ts';
import { PERIOD } from './stack-metrics.ts';

/** Their throttles are meant to limit callers without a key. */
const LIMITED_FUNCTIONS: readonly string[] = ['fallback-route', 'openapi-document'];
/** Alarm at this share of a function's calls in each of two minutes. */
const MAX_SHARE = 0.05;
/** Fewer throttled calls in a minute count as none, since Lambda can throttle some when it scales. */
const MIN_THROTTLED = 5;
/** An alarm reads at most ten metrics, and a function needs two. */
const FUNCTIONS_PER_ALARM = 5;

/** Raised when Lambda throttles a share of the calls of any function. Its parts watch some functions each. */
export function addThrottleAlarm(alarms: Alarms, functions: Readonly<Record<FunctionName, IFunction>>): void {
  const watched = Object.entries(functions).filter(([name]) => !LIMITED_FUNCTIONS.includes(name));
  const parts = chunksOf(watched, FUNCTIONS_PER_ALARM).map((part, index) =>
    alarms.part(`LambdaThrottled${index + 1}`, {
      description: `Part of LambdaThrottled: ${part.map(([name]) => name).join(', ')}`,
      metric: largestShare(part.map(([, fn]) => fn)),
      threshold: MAX_SHARE,
      periods: 2,
    }),
  );
  alarms.page('LambdaThrottled', {
    description: 'Lambda throttles functions',
    rule: AlarmRule.anyOf(...parts),
  });
}

/** The largest share of a function's calls that Lambda throttled. Lambda does not count them among the invocations. */
function largestShare(functions: readonly IFunction[]): MathExpression {
  const usingMetrics: Record<string, IMetric> = {};
  const shares = functions.map((fn, index) => {
    const [throttled, invoked] = [`throttled${index}`, `invoked${index}`];
    usingMetrics[throttled] = fn.metricThrottles({ period: PERIOD });
    usingMetrics[invoked] = fn.metricInvocations({ period: PERIOD });
    return `IF(FILL(${throttled}, 0) >= ${MIN_THROTTLED}, ${throttled} / (${throttled} + FILL(${invoked}, 0)), 0)`;
  });
  return new MathExpression({
    expression: `MAX([${shares.join(', ')}])`,
    usingMetrics,
    label: 'Throttled, a share of the calls of a function',
    period: PERIOD,
  });
}
