/** The raised alarms of a deployed stack. */
import { type CloudFormation, paginateListStackResources } from '@aws-sdk/client-cloudformation';
import { type CloudWatch, type DescribeAlarmsInput, paginateDescribeAlarms } from '@aws-sdk/client-cloudwatch';
import type { Alarm } from './measured.ts';

const ALARM_TYPE = /^AWS::CloudWatch::(Composite)?Alarm$/;

/** The raised alarms, composite ones first. Their parts are left out. */
export async function readAlarms(client: CloudWatch, cloudFormation: CloudFormation, stack: string): Promise<Alarm[]> {
  const AlarmNames = await alarmNames(cloudFormation, stack);
  // Without names the answer would have the alarms of the whole AWS account.
  if (AlarmNames.length === 0) return [];
  const wanted: DescribeAlarmsInput = {
    AlarmNames,
    StateValue: 'ALARM',
    AlarmTypes: ['MetricAlarm', 'CompositeAlarm'],
  };
  const pages = await Array.fromAsync(paginateDescribeAlarms({ client }, wanted));
  return [
    ...pages.flatMap(({ CompositeAlarms = [] }) => CompositeAlarms),
    ...pages.flatMap(({ MetricAlarms = [] }) => MetricAlarms),
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
  const pages = await Array.fromAsync(paginateListStackResources({ client }, { StackName }));
  return pages
    .flatMap(({ StackResourceSummaries = [] }) => StackResourceSummaries)
    .filter(({ ResourceType = '' }) => ALARM_TYPE.test(ResourceType))
    .map(({ PhysicalResourceId = '' }) => PhysicalResourceId);
}
