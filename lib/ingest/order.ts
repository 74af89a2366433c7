/** Where a record comes from. A file that is imported counts as one message, sent at the time of the command. */
export interface Origin {
  /** Unix milliseconds. */
  readonly sentMs: number;
  readonly messageId: string;
  /** The record's line in the message, from 1. */
  readonly line: number;
}

/** Digits of Unix milliseconds until the year 2286. */
const TIME_DIGITS = 13;
const LINE_DIGITS = 10;

const digitsOf = (value: number, digits: number) => String(value).padStart(digits, '0');

/** The order of a record among those of its row: by time, then by time sent, message and line. DynamoDB and JavaScript compare it alike. */
export const orderOf = (atMs: number, { sentMs, messageId, line }: Origin): string =>
  `${digitsOf(atMs, TIME_DIGITS)} ${digitsOf(sentMs, TIME_DIGITS)} ${messageId} ${digitsOf(line, LINE_DIGITS)}`;

/** The order of the same record if its change had happened at another time. */
export const orderAt = (atMs: number, order: string): string => digitsOf(atMs, TIME_DIGITS) + order.slice(TIME_DIGITS);

/** When the change happened, in Unix milliseconds. */
export const timeOf = (order: string): number => Number(order.slice(0, TIME_DIGITS));

/** When the record was sent, in Unix milliseconds. */
export const sentOf = (order: string): number => Number(order.slice(TIME_DIGITS + 1, 2 * TIME_DIGITS + 1));
