/** The one table, as the stack deploys it and as DynamoDB Local gets it. */
export const TABLE = {
  partitionKey: 'pk',
  sortKey: 'sk',
  /** Unix seconds after which DynamoDB may remove the row: rate counts, idempotency, audit and retired hosts only. */
  timeToLive: 'ttl',
  /** New images: finish-merges needs a feed entry as it was committed, and nothing of what was before. */
  streamView: 'NEW_IMAGE',
} as const;
