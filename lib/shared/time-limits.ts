/** How long the parts of a call may take, in milliseconds. */
export const TIME_LIMITS = {
  /** From the call's first byte: then calls to DynamoDB are given up, which leaves time to answer within 3 s. */
  callMs: 2_700,
  /** Of these, the authorizer's lookup; then it fails, and API Gateway answers 503. */
  authorizerMs: 900,
  /** The inventory of a page, which then ends with the hosts that it has: DynamoDB reads 1 MB at a time, and rows may be large. */
  inventoryMs: 800,
  /** Reading the live status of a page; then it counts as unreadable. */
  liveStatusMs: 1_000,
  /** The moves of a large merge that is committed; what is left then is finish-merges' to do. */
  movesMs: 1_500,
};

export type TimeLimits = typeof TIME_LIMITS;
