import { Duration, RemovalPolicy, Size, Stack } from 'aws-cdk-lib';
import {
  ApiKeySourceType,
  type CfnRestApi,
  type DomainName,
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
  SecurityPolicy,
  type UsagePlan,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import { Construct } from 'constructs';
import { THROTTLE } from '../lib/http/operation.ts';
import { type ListedOperation, openApiRoute, operations } from '../lib/operations/index.ts';
import { ACCESS_LOG_FORMAT } from './access-log.ts';
import { gatewayResponses } from './gateway-responses.ts';
import type { FunctionName } from './grants.ts';
import type { DeploymentSettings } from './stack-settings.ts';

/** The throttle that all callers without a gateway key share, per operation: calls a second, and burst. It bounds the cost of a flood. */
const SHARED_THROTTLE = { rate: 200, burst: 400 };
/** Smaller answers are not compressed, since it hardly shortens them. */
const MIN_COMPRESSION_SIZE = Size.bytes(1024);
/** The largest burst that API Gateway allows. */
const MAX_BURST = 5_000;
/** How long API Gateway keeps the authorizer's answer for an app key. */
const AUTHORIZER_CACHE = Duration.minutes(1);
/** The throttle of each route that no usage plan throttles: calls a second, and burst. */
const OTHER_ROUTES_THROTTLE = { rate: 100, burst: 200 };

export interface ServiceApiProps {
  readonly settings: DeploymentSettings;
  readonly functions: Readonly<Record<FunctionName, IFunction>>;
  /** Value of the gateway key that callers without a gateway key of their own share. */
  readonly sharedGatewayKey: string;
}

/**
 * The REST API: a route for each operation, a fallback route that answers `GET /` and refuses all other calls, and two usage plans.
 *
 * A *gateway key* is an API key of API Gateway. Usage plans throttle by it: each account has one, and all other callers share one.
 * Callers never send it: the authorizer returns the gateway key that belongs to the caller's app key.
 */
export class ServiceApi extends Construct {
  readonly api: RestApi;
  readonly accessLog: LogGroup;
  /** The plan to which the admin command adds the gateway key of each account. */
  readonly accountPlan: UsagePlan;
  /** Base address of the operations' paths, without a slash at the end. */
  readonly url: string;
  /** The same at API Gateway itself; with a domain `url` differs. */
  readonly defaultUrl: string;
  /** What a DNS record of the custom domain points to; undefined without one. */
  readonly domain: DomainName | undefined;

  constructor(scope: Construct, id: string, props: ServiceApiProps) {
    super(scope, id);
    const { settings } = props;
    const retention = settings.logRetentionDays;
    const stack = Stack.of(this);
    this.accessLog = new LogGroup(this, 'AccessLog', {
      retention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // Execution logs, data traces and X-Ray traces are off: they would store the query string, which has the app key.
    const withoutLogs = { loggingLevel: MethodLoggingLevel.OFF, dataTraceEnabled: false, metricsEnabled: false };
    const operationSettings = {
      ...withoutLogs,
      throttlingRateLimit: settings.stageRate,
      throttlingBurstLimit: Math.min(2 * settings.stageRate, MAX_BURST),
    };
    this.api = new RestApi(this, 'Api', {
      // CloudWatch groups the API's metrics by this name, so two stacks in a region must not share it.
      restApiName: stack.stackName,
      description: 'Incidents, monitoring and RUM',
      endpointTypes: [EndpointType.REGIONAL],
      apiKeySourceType: ApiKeySourceType.AUTHORIZER,
      // Request bodies reach the functions in base64: as text, bytes that are not UTF-8 would become U+FFFD.
      binaryMediaTypes: ['*/*'],
      minCompressionSize: MIN_COMPRESSION_SIZE,
      cloudWatchRole: settings.apiGatewayAccount,
      disableExecuteApiEndpoint: settings.disableExecuteApiEndpoint,
      deployOptions: {
        stageName: settings.stageName,
        tracingEnabled: false,
        ...withoutLogs,
        // The default for all methods. `methodOptions` replaces it for operations, so it applies to the fallback route and openapi.json.
        throttlingRateLimit: OTHER_ROUTES_THROTTLE.rate,
        throttlingBurstLimit: OTHER_ROUTES_THROTTLE.burst,
        methodOptions: Object.fromEntries(
          operations.map(({ path, method }) => [`${path}/${method}`, operationSettings]),
        ),
        accessLogDestination: new LogGroupLogDestination(this.accessLog),
        accessLogFormat: ACCESS_LOG_FORMAT,
      },
    });
    (this.api.node.defaultChild as CfnRestApi).securityPolicy = 'TLS_1_2';
    // The address in CDK's own output ends in a slash; the stack's output `Url` replaces it.
    this.api.node.tryRemoveChild('Endpoint');
    const methods = this.addRoutes(props.functions);
    for (const response of gatewayResponses())
      this.api.addGatewayResponse(`Response${response.type.responseType}`, response);
    const throttleOf = ({ throttle = THROTTLE }: ListedOperation) => throttle;
    this.accountPlan = this.addPlan('AccountPlan', 'One gateway key per account', methods, throttleOf);
    const sharedPlan = this.addPlan('SharedPlan', 'All callers without a gateway key', methods, () => SHARED_THROTTLE);
    sharedPlan.addApiKey(this.api.addApiKey('SharedKey', { value: props.sharedGatewayKey }));
    this.domain = this.addDomain(settings);
    this.defaultUrl = this.api.url.replace(/\/$/, '');
    this.url = this.domain ? `https://${settings.domainName}` : this.defaultUrl;
    const { stageArn: resourceArn } = this.api.deploymentStage;
    const { webAclArn } = settings;
    if (webAclArn !== undefined) new CfnWebACLAssociation(this, 'WebAcl', { webAclArn, resourceArn });
  }

  private addDomain({ domainName, certificateArn }: DeploymentSettings): DomainName | undefined {
    if (domainName === undefined || certificateArn === undefined) return undefined;
    return this.api.addDomainName('Domain', {
      domainName,
      certificate: Certificate.fromCertificateArn(this, 'Certificate', certificateArn),
      endpointType: EndpointType.REGIONAL,
      securityPolicy: SecurityPolicy.TLS_1_2,
    });
  }

  private addRoutes(functions: ServiceApiProps['functions']): Map<ListedOperation, Method> {
    const authorizer = new RequestAuthorizer(this, 'Authorizer', {
      handler: functions['usage-key-authorizer'],
      identitySources: [IdentitySource.queryString('app_key')],
      resultsCacheTtl: AUTHORIZER_CACHE,
    });
    const integrate = (fn: IFunction) => new LambdaIntegration(fn, { allowTestInvoke: false });
    // With a permission for each method, two for an operation, the function's policy would outgrow Lambda's 20 KB.
    const fallback = new LambdaIntegration(functions['fallback-route'], { scopePermissionToMethod: false });
    const withFallback = new Set<IResource>();
    const addFallback = (resource: IResource) => {
      if (!withFallback.has(resource)) resource.addMethod('ANY', fallback);
      withFallback.add(resource);
    };
    const { root } = this.api;
    addFallback(root);
    addFallback(root.addResource('{proxy+}'));
    // No authorizer: callers read this document before they have an app key.
    const document = root.resourceForPath(openApiRoute.path);
    addFallback(document);
    document.addMethod(openApiRoute.method, integrate(functions['openapi-document']));
    const methods = new Map<ListedOperation, Method>();
    for (const operation of operations) {
      const resource = root.resourceForPath(operation.path);
      // The resources above it in the path need a fallback, too: otherwise API Gateway itself would answer there.
      for (let parent: IResource | undefined = resource; parent; parent = parent.parentResource) addFallback(parent);
      const integration = integrate(functions[operation.name]);
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
    const throttle = [...methods].map(([operation, method]) => {
      const { rate: rateLimit, burst: burstLimit } = throttleOf(operation);
      return { method, throttle: { rateLimit, burstLimit } };
    });
    // aws-cdk-lib is compiled without exactOptionalPropertyTypes, so its class is not assignable to its own interface.
    const api = this.api as IRestApi;
    return this.api.addUsagePlan(id, { description, apiStages: [{ api, stage: api.deploymentStage, throttle }] });
  }
}
