/** The deployment that the stack's template describes: the configuration of the local gateway. */
import type { GatewayResponse } from './gateway-response.ts';
import { eventSourcesOf, queueName } from './queues.ts';
import { streamOf } from './stream.ts';
import { functionIdOf, functionsOf, type Resource, resourcesOf, routesOf, type Template } from './template.ts';
import type { Throttle } from './token-buckets.ts';
import type { UsagePlan, UsagePlans } from './usage-plans.ts';

export type Deployment = ReturnType<typeof readDeployment>;

export interface Route {
  /** Such as `POST`, or `ANY`. */
  readonly method: string;
  /** The resource's path: an exact one, or one that ends in `{proxy+}`. */
  readonly path: string;
  readonly functionName: string;
  /** Whether the authorizer runs, which chooses a gateway key. */
  readonly authorized: boolean;
}

/**
 * Reads a template.
 * @param tableName replaces references to the table
 * @param queueUrl gives the URL that replaces a reference to a queue
 * @throws when the template contains something that the local gateway does not support
 */
export function readDeployment(template: Template, tableName: string, queueUrl = (name: string) => name) {
  const functions = [...functionsOf(template)];
  const nameOf = (functionId: string): string => {
    const [name] = functions.find(([, { id }]) => id === functionId) ?? [];
    if (name === undefined) throw new Error('the template calls a function that it does not define');
    return name;
  };
  const onlyResourceOf = (type: string): Resource['Properties'] => {
    const [resource, ...others] = Object.values(resourcesOf(template, type));
    if (!resource || others.length > 0) throw new Error(`the template must have one ${type}`);
    return resource.Properties;
  };
  const tables = resourcesOf(template, 'AWS::DynamoDB::GlobalTable');
  const queues = resourcesOf(template, 'AWS::SQS::Queue');
  const buses = resourcesOf(template, 'AWS::Events::EventBus');
  const resolveValue = (value: string | { Ref?: string }, name: string): string => {
    if (typeof value === 'string') return value;
    const { Ref = '' } = value;
    if (Ref in tables) return tableName;
    if (Ref in queues) return queueUrl(queueName(Ref));
    if (Ref in buses) return Ref;
    throw new Error(`the value of ${name} is known on AWS only`);
  };

  const authorizer = onlyResourceOf('AWS::ApiGateway::Authorizer');
  return {
    /** By method and path, such as `POST /alert/merge`. */
    routes: new Map(
      [...routesOf(template)].map(([name, { Properties }]): [string, Route] => {
        const [method = '', path = ''] = name.split(' ');
        const functionName = nameOf(functionIdOf(Properties.Integration.Uri));
        return [name, { method, path, functionName, authorized: Properties.AuthorizationType === 'CUSTOM' }];
      }),
    ),
    functions: Object.fromEntries(
      functions.map(([name, { Properties }]) => [
        name,
        {
          environment: mapValues(Properties.Environment?.Variables ?? {}, resolveValue),
          timeoutMs: Properties.Timeout * 1000,
        },
      ]),
    ),
    authorizer: {
      functionName: nameOf(functionIdOf(authorizer.AuthorizerUri)),
      /** The query parameter that identifies the caller. */
      parameter: String(authorizer.IdentitySource).replace('method.request.querystring.', ''),
      ttlMs: authorizer.AuthorizerResultTtlInSeconds * 1000,
    },
    /** The answers that API Gateway makes itself. */
    responses: Object.values(resourcesOf(template, 'AWS::ApiGateway::GatewayResponse')).map(
      ({ Properties }): GatewayResponse => Properties,
    ),
    ...plansOf(template),
    /** Smaller bodies, in bytes, are neither compressed nor decompressed. */
    minCompressionSize: Number(onlyResourceOf('AWS::ApiGateway::RestApi').MinimumCompressionSize),
    /** The event source that passes the table's stream to a function. */
    stream: streamOf(template, nameOf),
    eventSources: eventSourcesOf(template, nameOf),
    /** Names of the queues whose URLs are outputs of the stack, by output. */
    queueOutputs: Object.fromEntries(
      Object.entries(template.Outputs ?? {})
        .map(([output, { Value }]): [string, string] => [output, Value.Ref ?? ''])
        .filter(([, id]) => id in queues)
        .map(([output, id]) => [output, queueName(id)]),
    ),
  };
}

const mapValues = <From, To>(record: Readonly<Record<string, From>>, map: (value: From, name: string) => To) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));

/**
 * Reads the usage plans, each with the gateway keys that the template attaches to it. The output `AccountPlanId` names the plan of the
 * accounts' keys.
 */
function plansOf(template: Template): UsagePlans {
  const gatewayKeys = resourcesOf(template, 'AWS::ApiGateway::ApiKey');
  const attached = Object.values(resourcesOf(template, 'AWS::ApiGateway::UsagePlanKey'));
  const plans = mapValues(
    resourcesOf(template, 'AWS::ApiGateway::UsagePlan'),
    ({ Properties }, id): UsagePlan => ({
      keys: attached
        .filter((planKey) => planKey.Properties.UsagePlanId.Ref === id)
        .map((planKey) => gatewayKeys[planKey.Properties.KeyId.Ref]?.Properties.Value),
      throttles: mapValues<{ RateLimit: number; BurstLimit: number }, Throttle>(
        Properties.ApiStages[0].Throttle,
        ({ RateLimit, BurstLimit }) => ({ rate: RateLimit, burst: BurstLimit }),
      ),
    }),
  );
  const { [template.Outputs?.AccountPlanId?.Value.Ref ?? '']: accountPlan, ...others } = plans;
  if (!accountPlan) throw new Error('the template has no output AccountPlanId that names a usage plan');
  return { accountPlan, otherPlans: Object.values(others) };
}
