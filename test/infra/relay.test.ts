/** The way from the table's stream to the merge queue and the bus, against the promises that need it. */
import { expect, it } from 'vitest';
import { deployed, propertiesOf } from '../support/stack.ts';

const template = deployed();
const HOUR = 3_600;

it('relay gets the rows that it sends on, from the oldest on, for longer than an outage of six hours, and no others', () => {
  const mappings = Object.values(propertiesOf('AWS::Lambda::EventSourceMapping', template));
  const [mapping, ...others] = mappings.filter(({ EventSourceArn }) => EventSourceArn === 'Table.StreamArn');
  expect(others).toEqual([]);
  const { FilterCriteria, MaximumRecordAgeInSeconds, ...rest } = mapping;
  expect(rest).toEqual({
    EventSourceArn: 'Table.StreamArn',
    FunctionName: 'relayFunction',
    // It also reads what was written before the mapping existed.
    StartingPosition: 'TRIM_HORIZON',
    BatchSize: 100,
    BisectBatchOnFunctionError: true,
    FunctionResponseTypes: ['ReportBatchItemFailures'],
    DestinationConfig: { OnFailure: { Destination: 'RelayDeadLetters.Arn' } },
  });
  expect(MaximumRecordAgeInSeconds).toBeGreaterThan(6 * HOUR);
  expect(MaximumRecordAgeInSeconds).toBeLessThanOrEqual(12 * HOUR);
  // Five are the most without a higher quota. Which rows they let through: test/integration/events.test.ts.
  expect(FilterCriteria.Filters.length).toBeLessThanOrEqual(5);
});

it('the dead letters are encrypted, and kept for 14 days', () => {
  expect(propertiesOf('AWS::SQS::Queue', template).RelayDeadLetters).toEqual({
    MessageRetentionPeriod: 14 * 24 * HOUR,
    SqsManagedSseEnabled: true,
  });
});
