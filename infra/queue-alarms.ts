/** The alarms on the queues and the table's stream, and on what their messages become. */
import { Duration } from 'aws-cdk-lib';
import { AlarmRule, type IMetric, MathExpression, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { METRICS } from '../lib/shared/log.ts';
import type { Alarms } from './alarms.ts';
import type { StackParts } from './dashboard.ts';
import { PERIOD, serviceMetric, sumOf } from './stack-metrics.ts';

const MAX_INGEST_AGE = Duration.minutes(5);
/** A single tenant may have a longer backlog than the others wait. */
const MAX_BACKLOG_AGE = Duration.hours(1);
/**
 * A message that fails comes again after at most 15 minutes. One alone raises FeedFailing when it fails twice within this time, usually
 * after ten seconds, and after six minutes if the function crashes. An event comes again after six.
 */
const FAILING = { periods: 20, datapoints: 2 } as const;
/**
 * A merge that fails comes again after five and a half minutes. One alone has failed twice and is late within seven minutes; attempts of two
 * merges that fail once raise nothing.
 */
const MERGES_FAILING = { periods: 20, datapoints: 3 } as const;
/** Finishing a merge takes seconds. */
const MAX_MERGE_AGE = Duration.minutes(6);
/** A change is usually relayed within two seconds, and published as soon. */
const MAX_RELAY_AGE = { change: Duration.minutes(1), event: Duration.minutes(5) } as const;
/** Each of five minutes: a mapping that reads nothing for so long is disabled, or its function may not read the source. */
const NOT_READ_PERIODS = 3;

export function addMergeAlarms(alarms: Alarms, { mergeQueue, relay, functions, settings }: StackParts): void {
  // What waits in a standby waits by intention.
  const merge = settings.standby ? {} : { merge: [ageOf(mergeQueue.queue), MAX_MERGE_AGE.toSeconds()] as const };
  alarms.page('MergesPending', {
    description: 'Large merges fail, or wait for over six minutes',
    metric: failingOrLate(
      { failed: mergeQueue.events.failed, crashed: functions['finish-merges'].metricErrors({ period: PERIOD }) },
      merge,
    ),
    ...MERGES_FAILING,
  });
  alarms.ticket('DeadLetters', {
    description: 'A merge could not be finished',
    metric: visibleIn(mergeQueue.deadLetters),
  });
  const iteratorAge = relay.lambda.metric('IteratorAge', { period: PERIOD, statistic: Stats.MAXIMUM });
  alarms.page('RelayLate', {
    description: 'Large merges or events wait',
    metric: failingOrLate(
      { failed: relay.events.failed },
      {
        change: [iteratorAge, MAX_RELAY_AGE.change.toMilliseconds()],
        event: [ageOf(relay.eventsQueue), MAX_RELAY_AGE.event.toSeconds()],
      },
    ),
    ...FAILING,
  });
  alarms.ticket('RelayDeadLetters', {
    description: 'A change could not be relayed',
    metric: visibleIn(relay.deadLetters),
  });
}

export function addIngestAlarms(alarms: Alarms, { ingestQueues, functions, settings }: StackParts): void {
  const { queue, refused, events } = ingestQueues;
  alarms.ticket('SilenceFailing', {
    description: 'Alerts of which no record comes stay open',
    metric: functions['end-silent-alerts'].metricErrors({ period: Duration.hours(1) }),
    periods: 2,
  });
  // While writes are frozen, the feed waits by intention. What is sent to a standby's queue waits for nobody.
  if (!settings.writesFrozen) {
    alarms.page('FeedBehind', {
      description: 'Records of the feed wait for over five minutes',
      metric: ageForOthers(queue),
      threshold: MAX_INGEST_AGE.toSeconds(),
      periods: 2,
    });
    alarms.ticket('FeedBacklog', {
      description: 'Records of the feed, perhaps of one account only, wait for over an hour',
      metric: ageOf(queue),
      threshold: MAX_BACKLOG_AGE.toSeconds(),
      periods: 5,
    });
  }
  alarms.page('FeedFailing', {
    description: 'Records of the feed fail',
    metric: sumOf('Failures', {
      records: serviceMetric(METRICS.failed),
      messages: events.failed,
      crashed: functions['ingest-records'].metricErrors({ period: PERIOD }),
    }),
    ...FAILING,
  });
  alarms.ticket('FeedRefused', {
    description: 'The feed refused records, or gave up messages that failed',
    metric: visibleIn(refused),
  });
}

/** Raised when an event source mapping does not read its source, as after somebody disabled it. */
export function addSourceAlarm(alarms: Alarms, { ingestQueues, mergeQueue, relay, settings }: StackParts): void {
  const sources = {
    ...(!settings.writesFrozen && !settings.standby && { Feed: ingestQueues.events }),
    ...(!settings.standby && { Merges: mergeQueue.events }),
    Events: relay.events,
    ...(!settings.standby && { Changes: relay.changes }),
  };
  const parts = Object.entries(sources).map(([name, { polled }]) =>
    alarms.part(`${name}NotRead`, {
      description: `Part of SourceNotRead: ${name.toLowerCase()}`,
      metric: polled,
      periods: NOT_READ_PERIODS,
      ifNoData: true,
    }),
  );
  alarms.page('SourceNotRead', {
    description: "A queue or the table's stream is not read",
    rule: AlarmRule.anyOf(...parts),
  });
}

const visibleIn = (queue: Queue) => queue.metricApproximateNumberOfMessagesVisible({ period: PERIOD });
/** Omits messages that were received three times: these have failed. */
const ageOf = (queue: Queue) => queue.metricApproximateAgeOfOldestMessage({ period: PERIOD, statistic: Stats.MAXIMUM });

/** At least 1 when something failed, or is older than its limit. */
function failingOrLate(
  failures: Record<string, IMetric>,
  ages: Record<string, readonly [age: IMetric, limit: number]>,
) {
  const late = Object.entries(ages).map(([name, [, limit]]) => `(FILL(${name}, 0) >= ${limit})`);
  return new MathExpression({
    expression: [...Object.keys(failures).map((name) => `FILL(${name}, 0)`), ...late].join(' + '),
    usingMetrics: { ...failures, ...Object.fromEntries(Object.entries(ages).map(([name, [age]]) => [name, age])) },
    label: 'Failing or late',
    period: PERIOD,
  });
}

/** The age of the oldest message, without those of a group, that is an account, whose backlog delays no other. */
const ageForOthers = (queue: Queue) =>
  new MathExpression({
    expression: 'IF(FILL(noisy, 0) > 0, FILL(quiet, 0), FILL(oldest, 0))',
    usingMetrics: {
      noisy: queue.metric('ApproximateNumberOfNoisyGroups', { period: PERIOD, statistic: Stats.MAXIMUM }),
      quiet: queue.metric('ApproximateAgeOfOldestMessageInQuietGroups', { period: PERIOD, statistic: Stats.MAXIMUM }),
      oldest: ageOf(queue),
    },
    label: 'Age, s',
    period: PERIOD,
  });
