/** The throttles of a template: those of its usage plans, and those of its stage. */
import { resourcesOf, type Template } from './template.ts';
import type { Throttle } from './token-buckets.ts';

/** A usage plan: the values of the gateway keys that the template gives it, and its throttles by `/path/METHOD`. */
export interface UsagePlan {
  readonly keys: readonly string[];
  readonly throttles: Readonly<Record<string, Throttle>>;
}

/** Throttles of the stage's methods by `/path/METHOD`, and that of every other method. */
export interface StageThrottles {
  readonly methods: Readonly<Record<string, Throttle>>;
  readonly others: Throttle;
}

/** The usage plans by their logical ids. */
export function plansOf(template: Template): Map<string, UsagePlan> {
  const gatewayKeys = resourcesOf(template, 'AWS::ApiGateway::ApiKey');
  const attached = Object.values(resourcesOf(template, 'AWS::ApiGateway::UsagePlanKey'));
  return new Map(
    Object.entries(resourcesOf(template, 'AWS::ApiGateway::UsagePlan')).map(([id, { Properties }]) => {
      const throttles = Object.entries(Properties.ApiStages[0].Throttle) as [
        string,
        { RateLimit: number; BurstLimit: number },
      ][];
      return [
        id,
        {
          keys: attached
            .filter((each) => each.Properties.UsagePlanId.Ref === id)
            .map((each) => gatewayKeys[each.Properties.KeyId.Ref]?.Properties.Value),
          throttles: Object.fromEntries(
            throttles.map(([method, { RateLimit, BurstLimit }]) => [method, { rate: RateLimit, burst: BurstLimit }]),
          ),
        },
      ];
    }),
  );
}

/** As `AWS::ApiGateway::Stage` has it. */
interface MethodSetting {
  /** `/*`, or a path whose slashes but the first are written `~1`. */
  ResourcePath: string;
  HttpMethod: string;
  ThrottlingRateLimit?: number;
  ThrottlingBurstLimit?: number;
}

/** @throws if there is none for all methods */
export function stageThrottlesOf(settings: readonly MethodSetting[]): StageThrottles {
  const throttles = settings.flatMap(({ ResourcePath, HttpMethod, ThrottlingRateLimit, ThrottlingBurstLimit }) =>
    ThrottlingRateLimit === undefined || ThrottlingBurstLimit === undefined
      ? []
      : [
          [
            `${ResourcePath.replace(/^\/~1/, '/').replaceAll('~1', '/')}/${HttpMethod}`,
            { rate: ThrottlingRateLimit, burst: ThrottlingBurstLimit },
          ] as const,
        ],
  );
  const { '/*/*': others, ...methods } = Object.fromEntries(throttles);
  if (!others) throw new Error('the stage has no throttle for all methods');
  return { methods, others };
}
