/** How long the parts of a call may take, in milliseconds. */
export interface TimeLimits {
  /** From the call's first byte: then calls to DynamoDB are given up, which leaves time to answer within 3 s. */
  callMs: number;
  /** Of these, the authorizer's lookup; then it fails, and API Gateway answers 503. */
  authorizerMs: number;
  /** The inventory of a page, which then ends with the hosts that it has: DynamoDB reads 1 MB at a time, and rows may be large. */
  inventoryMs: number;
  /** Reading the live status of a page; then it counts as unreadable. */
  liveStatusMs: number;
  /** The moves of a large merge that is committed; what is left then is finish-merges' to do. */
  movesMs: number;
}

export const TIME_LIMITS: TimeLimits = {
  callMs: 2_700,
  authorizerMs: 900,
  inventoryMs: 800,
  liveStatusMs: 1_000,
  movesMs: 1_500,
};
