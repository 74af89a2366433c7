/** The deployment that the stack's template describes: the configuration of the local gateway. */
import { type EventSource, eventSourcesOf, type QueueSettings, queueName, queuesOf } from './queues.ts';
import { type StreamSettings, streamOf } from './stream.ts';
import { functionIdOf, functionsOf, type Resource, resourcesOf, routesOf, type Template } from './template.ts';
import type { Throttle } from './token-buckets.ts';
import type { Throttles, UsagePlan } from './usage-plans.ts';

export interface Route {
  /** Such as `POST`, or `ANY`. */
  readonly method: string;
  /** The resource's path: an exact one, or one that ends in `{proxy+}`. */
  readonly path: string;
  readonly functionName: string;
  /** Whether the authorizer runs, and whether a gateway key is required. */
  readonly authorized: boolean;
  readonly keyRequired: boolean;
}

/** An answer that API Gateway makes itself; its header values and body may contain `$context.requestId`. */
export interface GatewayResponse {
  readonly status: number;
  /** Values as written in the template: `'text'` or `context.requestId`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface DeployedFunction {
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export interface Deployment extends Throttles {
  readonly routes: readonly Route[];
  readonly functions: Readonly<Record<string, DeployedFunction>>;
  readonly authorizer: {
    readonly functionName: string;
    /** The query parameter that identifies the caller. */
    readonly parameter: string;
    readonly ttlMs: number;
  };
  readonly responses: Readonly<Record<string, GatewayResponse>>;
  /** Request bodies of these types arrive in base64. */
  readonly binaryMediaTypes: readonly string[];
  /** Answers of at least this many bytes are compressed; absent: none. */
  readonly minCompressionSize: number | undefined;
  /** The event source that passes the table's stream to a function. */
  readonly stream: StreamSettings;
  readonly queues: readonly QueueSettings[];
  readonly eventSources: readonly EventSource[];
  /** Names of the queues whose URLs are outputs of the stack, by output. */
  readonly queueOutputs: Readonly<Record<string, string>>;
}

/**
 * Reads a template.
 * @param tableName replaces references to the table
 * @param queueUrl gives the URL that replaces a reference to a queue
 * @throws when the template contains something that the local gateway does not support
 */
export function readDeployment(
  template: Template,
  tableName: string,
  queueUrl: (name: string) => string = (name) => name,
): Deployment {
  const functions = [...functionsOf(template)];
  const nameOf = new Map(functions.map(([name, { id }]) => [id, name]));
  const functionName = (expression: unknown): string => {
    const name = nameOf.get(functionIdOf(expression));
    if (name === undefined) throw new Error('the template calls a function that it does not have');
    return name;
  };
  const only = (type: string): Resource['Properties'] => {
    const [found, ...more] = Object.values(resourcesOf(template, type));
    if (!found || more.length > 0) throw new Error(`the template must have one ${type}`);
    return found.Properties;
  };
  const tables = resourcesOf(template, 'AWS::DynamoDB::GlobalTable');
  const queues = resourcesOf(template, 'AWS::SQS::Queue');
  const buses = resourcesOf(template, 'AWS::Events::EventBus');
  const text = (value: string | { Ref?: string }, name: string): string => {
    if (typeof value === 'string') return value;
    if (value.Ref !== undefined && value.Ref in tables) return tableName;
    if (value.Ref !== undefined && value.Ref in queues) return queueUrl(queueName(value.Ref));
    if (value.Ref !== undefined && value.Ref in buses) return value.Ref;
    throw new Error(`the value of ${name} is known on AWS only`);
  };

  const authorizer = only('AWS::ApiGateway::Authorizer');
  const mappings = Object.values(resourcesOf(template, 'AWS::Lambda::EventSourceMapping')).map((one) => one.Properties);
  const [ofStream, ...others] = mappings.filter((mapping) => 'StartingPosition' in mapping);
  if (!ofStream || others.length > 0) throw new Error('the template must have one event source that is a stream');
  const api = only('AWS::ApiGateway::RestApi');

  return {
    routes: [...routesOf(template)].map(([route, { Properties }]) => {
      const [method = '', path = ''] = route.split(' ');
      return {
        method,
        path,
        functionName: functionName(Properties.Integration.Uri),
        authorized: Properties.AuthorizationType === 'CUSTOM',
        keyRequired: Properties.ApiKeyRequired === true,
      };
    }),
    functions: Object.fromEntries(
      functions.map(([name, { Properties }]) => [
        name,
        {
          environment: mapValues(Properties.Environment?.Variables ?? {}, text),
          timeoutMs: Properties.Timeout * 1000,
        },
      ]),
    ),
    authorizer: {
      functionName: functionName(authorizer.AuthorizerUri),
      parameter: authorizer.IdentitySource.replace('method.request.querystring.', ''),
      ttlMs: authorizer.AuthorizerResultTtlInSeconds * 1000,
    },
    responses: responsesOf(template),
    ...plansOf(template),
    stageThrottles: stageThrottlesOf(only('AWS::ApiGateway::Stage').MethodSettings),
    binaryMediaTypes: api.BinaryMediaTypes ?? [],
    minCompressionSize: api.MinimumCompressionSize,
    stream: streamOf(ofStream, nameOf.get(ofStream.FunctionName.Ref) ?? ''),
    queues: queuesOf(template),
    eventSources: eventSourcesOf(template, (id) => nameOf.get(id) ?? ''),
    queueOutputs: Object.fromEntries(
      Object.entries(template.Outputs ?? {}).flatMap(([output, { Value }]) =>
        Value.Ref !== undefined && Value.Ref in queues ? [[output, queueName(Value.Ref)]] : [],
      ),
    ),
  };
}

const mapValues = <From, To>(of: Readonly<Record<string, From>>, map: (value: From, name: string) => To) =>
  Object.fromEntries(Object.entries(of).map(([name, value]) => [name, map(value, name)]));

function responsesOf(template: Template): Deployment['responses'] {
  const responses = Object.values(resourcesOf(template, 'AWS::ApiGateway::GatewayResponse'));
  return Object.fromEntries(
    responses.map(({ Properties: { ResponseType, StatusCode, ResponseParameters, ResponseTemplates } }) => {
      const headers = Object.entries<string>(ResponseParameters).map(
        ([name, value]) => [name.replace('gatewayresponse.header.', ''), value] as const,
      );
      const body: string = ResponseTemplates['application/json'];
      return [ResponseType, { status: Number(StatusCode), headers: Object.fromEntries(headers), body }];
    }),
  );
}

/** The usage plan that the template's output names, and the others with the gateway keys that the template attaches to them. */
function plansOf(template: Template): Pick<Deployment, 'accountPlan' | 'otherPlans'> {
  const gatewayKeys = resourcesOf(template, 'AWS::ApiGateway::ApiKey');
  const attached = Object.values(resourcesOf(template, 'AWS::ApiGateway::UsagePlanKey'));
  const plans = mapValues(
    resourcesOf(template, 'AWS::ApiGateway::UsagePlan'),
    ({ Properties }, id): UsagePlan => ({
      keys: attached
        .filter((each) => each.Properties.UsagePlanId.Ref === id)
        .map((each) => gatewayKeys[each.Properties.KeyId.Ref]?.Properties.Value),
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

/** A method setting of `AWS::ApiGateway::Stage`. */
interface MethodSetting {
  /** `/*`, or a path in which every slash except the first is written `~1`. */
  ResourcePath: string;
  HttpMethod: string;
  ThrottlingRateLimit?: number;
  ThrottlingBurstLimit?: number;
}

/** @throws if no throttle applies to all methods */
function stageThrottlesOf(settings: readonly MethodSetting[]): Deployment['stageThrottles'] {
  const throttles = new Map<string, Throttle>();
  for (const { ResourcePath, HttpMethod, ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst } of settings) {
    const path = ResourcePath.replace(/^\/~1/, '/').replaceAll('~1', '/');
    if (rate !== undefined && burst !== undefined) throttles.set(`${path}/${HttpMethod}`, { rate, burst });
  }
  const { '/*/*': others, ...methods } = Object.fromEntries(throttles);
  if (!others) throw new Error('the stage has no throttle for all methods');
  return { methods, others };
}
