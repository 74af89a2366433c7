/** A deployment as API Gateway and Lambda see it, read from the stack's template: the local gateway's configuration. */
import type { QueueSettings } from './queue.ts';
import { functionIdOf, functionsOf, type Resource, resourcesOf, routesOf, type Template } from './template.ts';
import { plansOf, type StageThrottles, stageThrottlesOf, type UsagePlan } from './throttles.ts';

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

/** An answer that API Gateway makes itself; its texts may hold `$context.requestId`. */
export interface GatewayResponse {
  readonly status: number;
  /** Values as the template has them: `'text'` or `context.requestId`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface DeployedFunction {
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly memoryMb: number;
}

export interface Deployment {
  readonly routes: readonly Route[];
  readonly functions: Readonly<Record<string, DeployedFunction>>;
  readonly authorizer: {
    readonly functionName: string;
    /** The parameter of the query that it goes by. */
    readonly parameter: string;
    readonly ttlMs: number;
  };
  readonly responses: Readonly<Record<string, GatewayResponse>>;
  /** Plan of the accounts' gateway keys, which the operator's command attaches. */
  readonly accountPlan: UsagePlan;
  readonly otherPlans: readonly UsagePlan[];
  readonly stageThrottles: StageThrottles;
  /** Request bodies of these types arrive in base64. */
  readonly binaryMediaTypes: readonly string[];
  /** Bytes from which on answers are compressed; absent: never. */
  readonly minCompressionSize: number | undefined;
  /** From the table's stream to a queue. */
  readonly pipe: {
    /** Event patterns: a record is sent when one of them matches. */
    readonly patterns: readonly object[];
    /** What is sent of it. */
    readonly inputTemplate: string;
  };
  readonly queue: QueueSettings;
}

/**
 * Reads a template.
 * @param tableName what references to the table stand for
 * @throws when the template holds what the local gateway cannot follow
 */
export function readDeployment(template: Template, tableName: string): Deployment {
  const nameOf = new Map([...functionsOf(template)].map(([name, { id }]) => [id, name]));
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
  const tables = Object.keys(resourcesOf(template, 'AWS::DynamoDB::GlobalTable'));
  const text = (name: string, value: unknown): string => {
    if (typeof value === 'string') return value;
    if (tables.includes((value as { Ref?: string }).Ref ?? '')) return tableName;
    throw new Error(`the value of ${name} is known on AWS only`);
  };

  const authorizer = only('AWS::ApiGateway::Authorizer');
  const mapping = only('AWS::Lambda::EventSourceMapping');
  const pipe = only('AWS::Pipes::Pipe');
  const queue = template.Resources[pipe.Target['Fn::GetAtt'][0]]?.Properties;
  if (mapping.EventSourceArn['Fn::GetAtt'][0] !== pipe.Target['Fn::GetAtt'][0] || mapping.BatchSize !== 1)
    throw new Error('the template must feed a function from the queue of its pipe, one message a call');
  const api = only('AWS::ApiGateway::RestApi');
  const plans = plansOf(template);
  const accountPlanId = (template.Outputs?.AccountPlanId?.Value as { Ref?: string } | undefined)?.Ref ?? '';
  const accountPlan = plans.get(accountPlanId);
  if (!accountPlan) throw new Error('the template has no output AccountPlanId that names a usage plan');
  plans.delete(accountPlanId);

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
      [...functionsOf(template)].map(([name, { Properties }]) => [
        name,
        {
          environment: Object.fromEntries(
            Object.entries(Properties.Environment?.Variables ?? {}).map(([key, value]) => [key, text(key, value)]),
          ),
          timeoutMs: Properties.Timeout * 1000,
          memoryMb: Properties.MemorySize,
        },
      ]),
    ),
    authorizer: {
      functionName: functionName(authorizer.AuthorizerUri),
      parameter: authorizer.IdentitySource.replace('method.request.querystring.', ''),
      ttlMs: authorizer.AuthorizerResultTtlInSeconds * 1000,
    },
    responses: responsesOf(template),
    accountPlan,
    otherPlans: [...plans.values()],
    stageThrottles: stageThrottlesOf(only('AWS::ApiGateway::Stage').MethodSettings),
    binaryMediaTypes: api.BinaryMediaTypes ?? [],
    minCompressionSize: api.MinimumCompressionSize,
    pipe: {
      patterns: pipe.SourceParameters.FilterCriteria.Filters.map(({ Pattern }: { Pattern: string }) =>
        JSON.parse(Pattern),
      ),
      inputTemplate: pipe.TargetParameters.InputTemplate,
    },
    queue: {
      functionName: nameOf.get(mapping.FunctionName.Ref) ?? '',
      delayMs: queue.DelaySeconds * 1_000,
      visibilityMs: queue.VisibilityTimeout * 1_000,
      maxReceives: queue.RedrivePolicy.maxReceiveCount,
    },
  };
}

function responsesOf(template: Template): Record<string, GatewayResponse> {
  return Object.fromEntries(
    Object.values(resourcesOf(template, 'AWS::ApiGateway::GatewayResponse')).map(({ Properties }) => [
      Properties.ResponseType,
      {
        status: Number(Properties.StatusCode),
        headers: Object.fromEntries(
          Object.entries(Properties.ResponseParameters as Record<string, string>).map(([name, value]) => [
            name.replace('gatewayresponse.header.', ''),
            value,
          ]),
        ),
        body: Properties.ResponseTemplates['application/json'],
      },
    ]),
  );
}
