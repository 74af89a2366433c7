/** DynamoDB removes a retired host's rows after this time. Until then late records are compared with them; a later one brings the host back. */
const KEPT_DAYS = 30;

/** The time to live of the rows that a retirement leaves, in Unix seconds. */
export const removalTime = (retiredAtMs: number): number => Math.ceil(retiredAtMs / 1000) + KEPT_DAYS * 24 * 3600;
