/** The raised alarms of a deployed stack. */
import { type CloudFormation, paginateListStackResources } from '@aws-sdk/client-cloudformation';
import { type CloudWatch, paginateDescribeAlarms } from '@aws-sdk/client-cloudwatch';
import { chunksOf } from '../../../lib/shared/concurrency.ts';
import type { Alarm } from './measured.ts';

/** CloudWatch takes at most this many names in a call: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html */
const MAX_NAMES = 100;
const ALARM_TYPE = /^AWS::CloudWatch::(Composite)?Alarm$/;

/** The raised alarms, composite ones first. Their parts are left out. */
export async function readAlarms(client: CloudWatch, cloudFormation: CloudFormation, stack: string): Promise<Alarm[]> {
  const names = await alarmNames(cloudFormation, stack);
  const pages = await Promise.all(
    chunksOf(names, MAX_NAMES).map((AlarmNames) =>
      Array.fromAsync(
        paginateDescribeAlarms(
          { client },
          // Without `AlarmTypes` the answer has no composite ones.
          { AlarmNames, StateValue: 'ALARM', AlarmTypes: ['MetricAlarm', 'CompositeAlarm'] },
        ),
      ),
    ),
  );
  return [
    ...pages.flat().flatMap(({ CompositeAlarms = [] }) => CompositeAlarms),
    ...pages.flat().flatMap(({ MetricAlarms = [] }) => MetricAlarms),
  ]
    .map(({ AlarmName: name = '', StateUpdatedTimestamp: since, AlarmDescription: what = '' }) => ({
      name,
      what,
      since_ms: since?.getTime() ?? 0,
    }))
    .filter(({ what }) => !what.startsWith('Part of '));
}

/** The names have no common prefix: CloudFormation joins stack and resource by a hyphen, the CDK, which names composite alarms, does not. */
async function alarmNames(client: CloudFormation, StackName: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { StackResourceSummaries: resources = [] } of paginateListStackResources({ client }, { StackName }))
    for (const { ResourceType = '', PhysicalResourceId } of resources)
      if (PhysicalResourceId && ALARM_TYPE.test(ResourceType)) names.push(PhysicalResourceId);
  return names;
}
