/** The definition of the table, on AWS and in DynamoDB Local. Tools read it without the CDK. */

export const TABLE = {
  partitionKey: 'pk',
  sortKey: 'sk',
  /** Unix seconds after which DynamoDB may remove the row. Only rate counts, idempotency keys, audit entries, host statuses, retirements, and ended alerts with their keys have it. */
  timeToLive: 'ttl',
  /** The function relay tells what a change made of a row that was there. */
  streamView: 'NEW_AND_OLD_IMAGES',
} as const;
