import { Duration, RemovalPolicy, Size, Stack } from 'aws-cdk-lib';
import {
  ApiKeySourceType,
  type CfnRestApi,
  EndpointType,
  IdentitySource,
  type IResource,
  type IRestApi,
  LambdaIntegration,
  LogGroupLogDestination,
  type Method,
  MethodLoggingLevel,
  RequestAuthorizer,
  RestApi,
  type ThrottlingPerMethod,
  type UsagePlan,
} from 'aws-cdk-lib/aws-apigateway';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type ListedOperation, type OperationName, openApiRoute, operations } from '../lib/http/operations.ts';
import { ACCESS_LOG_FORMAT } from './access-log.ts';
import { gatewayResponses } from './gateway-responses.ts';
import type { DeploymentSettings } from './stack-settings.ts';

/** Callers without a gateway key share this throttle: enough to answer them 401, and a bound on the cost of a flood. */
const SHARED = { rate: 200, burst: 400 };
/** Bytes. Compression hardly helps smaller answers. */
const MIN_COMPRESSION_SIZE = Size.bytes(1024);
/** Calls a second, and burst, of each route that no usage plan throttles. */
const OTHERS = { rate: 100, burst: 200 };

export interface ServiceApiProps {
  readonly settings: DeploymentSettings;
  readonly operationFunctions: Readonly<Record<OperationName, IFunction>>;
  readonly fallbackRoute: IFunction;
  /** Publishes the OpenAPI document. */
  readonly openApiDocument: IFunction;
  readonly usageKeyAuthorizer: IFunction;
  /** Value of the gateway key that is shared by all callers without one of their own. */
  readonly sharedGatewayKey: string;
}

/** The REST API: a route for each operation, a refusal for everything else, and usage plans that throttle each account. */
export class ServiceApi extends Construct {
  readonly api: RestApi;
  readonly accessLog: LogGroup;
  /** Where the operator attaches the gateway key of each account. */
  readonly accountPlan: UsagePlan;

  constructor(scope: Construct, id: string, props: ServiceApiProps) {
    super(scope, id);
    const { settings } = props;
    const retention = settings.logRetentionDays;
    this.accessLog = new LogGroup(this, 'AccessLog', { retention, removalPolicy: RemovalPolicy.DESTROY });
    const { stackName } = Stack.of(this);
    // Off, since they would store the query string with the app key: execution logs, data trace, X-Ray of the stage.
    const quiet = { loggingLevel: MethodLoggingLevel.OFF, dataTraceEnabled: false, metricsEnabled: false };
    const ofOperation = {
      ...quiet,
      throttlingRateLimit: settings.stageRate,
      throttlingBurstLimit: settings.stageBurst,
    };
    this.api = new RestApi(this, 'Api', {
      // CloudWatch separates metrics by this name, so two stacks of a region must not share it.
      restApiName: stackName,
      description: 'Incidents, monitoring and RUM',
      endpointTypes: [EndpointType.REGIONAL],
      apiKeySourceType: ApiKeySourceType.AUTHORIZER,
      // A request's body arrives in base64: as text, bytes that are not UTF-8 would arrive as U+FFFD.
      binaryMediaTypes: ['*/*'],
      minCompressionSize: MIN_COMPRESSION_SIZE,
      cloudWatchRole: settings.apiGatewayAccount,
      deployOptions: {
        stageName: settings.stageName,
        tracingEnabled: false,
        ...quiet,
        // Per method: the routes without a usage plan, which refuse, and openapi.json.
        throttlingRateLimit: OTHERS.rate,
        throttlingBurstLimit: OTHERS.burst,
        methodOptions: Object.fromEntries(operations.map(({ path, method }) => [`${path}/${method}`, ofOperation])),
        accessLogDestination: new LogGroupLogDestination(this.accessLog),
        accessLogFormat: ACCESS_LOG_FORMAT,
      },
    });
    (this.api.node.defaultChild as CfnRestApi).securityPolicy = 'TLS_1_2';
    // CDK's own output, whose address ends in a slash, is replaced by the stack's.
    this.api.node.tryRemoveChild('Endpoint');
    const methods = this.addRoutes(props);
    for (const response of gatewayResponses())
      this.api.addGatewayResponse(`Response${response.type.responseType}`, response);
    this.accountPlan = this.addPlan('AccountPlan', 'One gateway key per account', methods, ({ throttle }) => throttle);
    const sharedPlan = this.addPlan('SharedPlan', 'All callers without a gateway key', methods, () => SHARED);
    sharedPlan.addApiKey(this.api.addApiKey('SharedKey', { value: props.sharedGatewayKey }));
  }

  /** Base address, to which the operations' paths are appended. */
  get url(): string {
    return this.api.url.replace(/\/$/, '');
  }

  private addRoutes(props: ServiceApiProps): Map<ListedOperation, Method> {
    const authorizer = new RequestAuthorizer(this, 'LabelCaller', {
      handler: props.usageKeyAuthorizer,
      identitySources: [IdentitySource.queryString('app_key')],
      resultsCacheTtl: Duration.seconds(props.settings.authorizerCacheSeconds),
    });
    const integrate = (fn: IFunction) => new LambdaIntegration(fn, { allowTestInvoke: false });
    const refusal = integrate(props.fallbackRoute);
    const refusing = new Set<IResource>();
    const refuseAny = (resource: IResource) => {
      if (!refusing.has(resource)) resource.addMethod('ANY', refusal);
      refusing.add(resource);
    };
    const { root } = this.api;
    refuseAny(root);
    refuseAny(root.addResource('{proxy+}'));
    // Open to everyone: callers need it before they have a key.
    const published = root.resourceForPath(openApiRoute.path);
    refuseAny(published);
    published.addMethod(openApiRoute.method, integrate(props.openApiDocument));
    const methods = new Map<ListedOperation, Method>();
    for (const operation of operations) {
      const resource = root.resourceForPath(operation.path);
      // Also on intermediate resources, so that API Gateway answers no method itself.
      for (let parent: IResource | undefined = resource; parent; parent = parent.parentResource) refuseAny(parent);
      const integration = integrate(props.operationFunctions[operation.name]);
      methods.set(operation, resource.addMethod(operation.method, integration, { authorizer, apiKeyRequired: true }));
    }
    return methods;
  }

  private addPlan(
    id: string,
    description: string,
    methods: Map<ListedOperation, Method>,
    throttleOf: (operation: ListedOperation) => { rate: number; burst: number },
  ): UsagePlan {
    const throttle: ThrottlingPerMethod[] = [...methods].map(([operation, method]) => {
      const { rate, burst } = throttleOf(operation);
      return { method, throttle: { rateLimit: rate, burstLimit: burst } };
    });
    // aws-cdk-lib is not compiled with exactOptionalPropertyTypes: its class does not fit its own interface.
    const api = this.api as IRestApi;
    return this.api.addUsagePlan(id, {
      description,
      apiStages: [{ api, stage: this.api.deploymentStage, throttle }],
    });
  }
}
