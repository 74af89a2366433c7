/** DynamoDB removes the rows of a retired host after this time. Until then older records change nothing, and a later one brings it back. */
const KEPT_DAYS = 30;

/** The time to live of the rows that a retirement leaves, in Unix seconds. */
export const removalTime = (retiredAtMs: number): number => Math.ceil(retiredAtMs / 1000) + KEPT_DAYS * 24 * 3600;
