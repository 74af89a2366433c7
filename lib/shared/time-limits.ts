/** How long the parts of a call may take, in milliseconds. */
export const TIME_LIMITS = {
  /** From the call's first byte: then calls to DynamoDB are cancelled, which leaves time to answer within 3 s. */
  callMs: 2_700,
  /** The authorizer's look-up, part of `callMs`. Later it fails, and API Gateway answers 503. */
  authorizerMs: 900,
  /** Reading the inventory for a page, which then ends early. DynamoDB reads 1 MB at a time, and rows may be large. */
  inventoryMs: 800,
  /** Reading live status for a page, which then counts as unreadable. */
  liveStatusMs: 1_000,
  /** The moves of a large merge after its commit. finish-merges makes the remaining ones. */
  movesMs: 1_500,
};

export type TimeLimits = typeof TIME_LIMITS;
