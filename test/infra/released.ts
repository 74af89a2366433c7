/**
 * The resources of the last release, which an update must keep: `released.json`. At a release run
 * `npm exec -- node test/infra/released.ts > test/infra/released.json` on its commit.
 */
import { synthesize } from '../../packages/local/synthesize.ts';
import type { Template } from '../../packages/local/template.ts';

/** Their ids contain a route or a hash, and they keep nothing. */
const OF_ROUTES = /^AWS::(ApiGateway::(Deployment|Method|Resource)|Lambda::Permission)$/;

/**
 * Resources that keep something, or whose address others know, and their properties of which a change replaces them ("Update requires:
 * Replacement" in CloudFormation's template reference, such as
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-logs-loggroup.html). With another view type a table keeps its
 * items, but has a new stream: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html
 */
const KEPT: Readonly<Record<string, readonly string[]>> = {
  'AWS::ApiGateway::ApiKey': ['GenerateDistinctId', 'Name', 'Value'],
  'AWS::ApiGateway::RestApi': [],
  'AWS::ApiGateway::UsagePlan': [],
  'AWS::DynamoDB::GlobalTable': ['KeySchema', 'LocalSecondaryIndexes', 'StreamSpecification', 'TableName'],
  'AWS::Events::EventBus': ['EventSourceName', 'Name'],
  'AWS::IAM::ManagedPolicy': ['Description', 'ManagedPolicyName', 'Path'],
  'AWS::Logs::LogGroup': ['LogGroupName'],
  'AWS::SQS::Queue': ['FifoQueue', 'QueueName'],
};

/** What an update must keep: the ids of the resources of each type, and as JSON what would replace each resource that keeps something. */
export function releasedOf({ Resources }: Template) {
  const types: Record<string, string> = {};
  const kept: Record<string, string> = {};
  for (const [id, { Type, Properties }] of Object.entries(Resources)) {
    if (!OF_ROUTES.test(Type)) types[Type] = types[Type] ? `${types[Type]} ${id}` : id;
    if (KEPT[Type]) kept[id] = JSON.stringify(Object.fromEntries(KEPT[Type].map((name) => [name, Properties?.[name]])));
  }
  return { types, kept };
}

if (import.meta.main) process.stdout.write(`${JSON.stringify(releasedOf(synthesize()), null, 2)}\n`);
