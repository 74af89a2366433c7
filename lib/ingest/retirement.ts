/**
 * A retired host leaves rows that late records are compared with, and that nobody is shown. DynamoDB removes them after so long:
 * a record that comes even later brings the host back.
 */
const KEPT_DAYS = 30;

/** Unix seconds after which DynamoDB may remove what a retirement leaves. */
export const removalTime = (retiredAtMs: number): number => Math.ceil(retiredAtMs / 1000) + KEPT_DAYS * 24 * 3600;
