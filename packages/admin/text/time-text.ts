/** The last moment of JavaScript's dates, in Unix milliseconds. */
const LAST_DATE_MS = 8.64e15;

/** A readable time, to the second. */
export const timeText = (milliseconds: number) =>
  Math.abs(milliseconds) <= LAST_DATE_MS
    ? `${new Date(milliseconds).toISOString().slice(0, 19).replace('T', ' ')} UTC`
    : `not a time (${milliseconds})`;
