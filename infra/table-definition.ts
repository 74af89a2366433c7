/** The definition of the table, on AWS and in DynamoDB Local. */
export const TABLE = {
  partitionKey: 'pk',
  sortKey: 'sk',
  /** Unix seconds, after which DynamoDB may remove the row. Only rate counts, idempotency, audit and retired hosts have it. */
  timeToLive: 'ttl',
  /** The function relay needs each row as it is after the change, and nothing of what was before. */
  streamView: 'NEW_IMAGE',
} as const;
