/** How long the parts of a call may take, in milliseconds. */
export const TIME_LIMITS = {
  /**
   * The whole call, from its arrival at API Gateway; of the time before the handler starts, at most one second counts. When the time is up,
   * calls to DynamoDB are cancelled, which leaves time to answer within 3 s.
   */
  callMs: 2_700,
  /** The authorizer's lookup of the app key, which counts towards `callMs`. If it takes longer, it fails, and API Gateway answers 503. */
  authorizerMs: 900,
  /** Reading the inventory for a fleet page, which then ends early. DynamoDB reads 1 MB at a time, and rows may be large. */
  inventoryMs: 800,
  /** Reading the live status of a fleet page's hosts. What is not read by then counts as unreadable. */
  liveStatusMs: 1_000,
  /** Moving the alerts of a large merge after its commit. finish-merges moves the rest. */
  movesMs: 1_500,
};

export type TimeLimits = typeof TIME_LIMITS;
