import { Stack } from 'aws-cdk-lib';
import {
  Alarm,
  type AlarmBase,
  ComparisonOperator,
  CompositeAlarm,
  type IAlarmRule,
  type IMetric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type ITopic, Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import type { DeploymentSettings } from './stack-settings.ts';

/** An alarm is raised when the metric reaches the threshold in `datapoints` of the last `periods`. No data counts as below it. */
export interface Condition {
  /** A sentence without its full stop. */
  readonly description: string;
  readonly metric: IMetric;
  /** By default 1. */
  readonly threshold?: number;
  /** Periods of the metric, which are minutes unless it says otherwise. By default 1. */
  readonly periods?: number;
  /** By default all of `periods`. */
  readonly datapoints?: number;
  /** Raised by the lack of data, and by nothing else. */
  readonly ifNoData?: boolean;
}

/** An alarm that is raised by the state of other alarms, its parts. */
export interface CompositeCondition {
  readonly description: string;
  readonly rule: IAlarmRule;
}

/** Makes the alarms. Each says what to do: its runbook is the heading of its name in docs/runbook.md. */
export class Alarms {
  /** The alarms so far, without parts of composite ones. */
  readonly told: AlarmBase[] = [];
  private readonly scope: Construct;
  private readonly topics: { readonly page?: ITopic | undefined; readonly ticket?: ITopic | undefined };
  private readonly runbookUrl: string;

  constructor(
    scope: Construct,
    { pageTo, ticketTo = pageTo, runbookUrl }: Pick<DeploymentSettings, 'pageTo' | 'ticketTo' | 'runbookUrl'>,
  ) {
    this.scope = scope;
    this.runbookUrl = runbookUrl;
    const page = this.addTopic('Page', pageTo);
    this.topics = { page, ticket: ticketTo === pageTo ? page : this.addTopic('Ticket', ticketTo) };
  }

  /** An alarm that pages somebody. */
  page(name: string, condition: Condition | CompositeCondition): void {
    this.add('page', name, condition);
  }

  /** An alarm that can wait for the next working day. */
  ticket(name: string, condition: Condition | CompositeCondition): void {
    this.add('ticket', name, condition);
  }

  /** An alarm that notifies nobody: part of a composite one. */
  part(name: string, condition: Condition): Alarm {
    const { metric, description, ifNoData = false, threshold = 1, periods = 1, datapoints = periods } = condition;
    const { GREATER_THAN_OR_EQUAL_TO_THRESHOLD, LESS_THAN_THRESHOLD } = ComparisonOperator;
    return new Alarm(this.scope, name, {
      alarmDescription: description,
      metric,
      threshold: ifNoData ? 0 : threshold,
      evaluationPeriods: periods,
      datapointsToAlarm: datapoints,
      comparisonOperator: ifNoData ? LESS_THAN_THRESHOLD : GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: ifNoData ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
  }

  private add(urgency: 'page' | 'ticket', name: string, condition: Condition | CompositeCondition): void {
    const description = `${condition.description}. What to do: ${this.runbookUrl}#${name.toLowerCase()}`;
    const alarm: AlarmBase =
      'rule' in condition
        ? new CompositeAlarm(this.scope, name, { alarmDescription: description, alarmRule: condition.rule })
        : this.part(name, { ...condition, description });
    this.told.push(alarm);
    const topic = this.topics[urgency];
    if (!topic) return;
    alarm.addAlarmAction(new SnsAction(topic));
    alarm.addOkAction(new SnsAction(topic));
  }

  private addTopic(id: string, to: string | undefined): ITopic | undefined {
    if (to === undefined) return undefined;
    if (to.startsWith('arn:')) return Topic.fromTopicArn(this.scope, id, to);
    const topic = new Topic(this.scope, id, { enforceSSL: true });
    topic.addSubscription(new EmailSubscription(to));
    // `enforceSSL` adds a topic policy. It replaces SNS's default policy, which lets the account's alarms publish.
    const ofThisAccount = { StringEquals: { 'aws:SourceAccount': Stack.of(this.scope).account } };
    topic.grantPublish(new ServicePrincipal('cloudwatch.amazonaws.com', { conditions: ofThisAccount }));
    return topic;
  }
}
