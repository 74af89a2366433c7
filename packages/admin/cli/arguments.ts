/** Parsers of arguments. The message of each error is a sentence about the value. */
import { InvalidArgumentError } from 'commander';
import ms from 'ms';
import { PERMISSIONS } from '../../../lib/model/account.ts';
import { workItem } from '../../../lib/model/work-item.ts';
import { codePoints, hostId, type Int64, isInt64, toInt64 } from '../../../lib/shared/json.ts';
import { OBJECT_ID } from '../incidents/alerts.ts';

/** The id of an account or a member. */
export function accountId(value: string): Int64 {
  const id = /^\d{1,19}$/.test(value) ? toInt64(value) : 0;
  if (id < 1 || !isInt64(id)) throw new InvalidArgumentError('It must be an integer from 1 to 9223372036854775807.');
  return id;
}

export function objectId(value: string): string {
  if (!OBJECT_ID.test(value)) throw new InvalidArgumentError('It must have 24 hexadecimal digits.');
  return value.toLowerCase();
}

/** The sequence of a history entry, with or without leading zeros. */
export function historyEntry(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw new InvalidArgumentError('It must be the number that `show incident` shows.');
  return Number(value);
}

const MAX_DURATION = '1000y';

/** Milliseconds of a duration such as `90d`, {@link MAX_DURATION} at the most. */
export function duration(value: string): number {
  const milliseconds = /^\d+(\.\d+)?\s*[a-z]+$/i.test(value) || value === '0' ? ms(value as ms.StringValue) : undefined;
  if (milliseconds === undefined || Number.isNaN(milliseconds))
    throw new InvalidArgumentError('It must be a duration such as 30s, 10m, 24h or 90d.');
  if (milliseconds > ms(MAX_DURATION)) throw new InvalidArgumentError(`It must be at most ${MAX_DURATION}.`);
  return milliseconds;
}

/** Well-formed text whose length in code points is from `min` to `max`, as `import` requires it, too. */
export const textOfLength =
  (min: number, max: number) =>
  (value: string): string => {
    const length = codePoints(value);
    if (length < min || length > max || !value.isWellFormed())
      throw new InvalidArgumentError(`It must have ${min} to ${max} characters.`);
    return value;
  };

export const hostText = textOfLength(1, hostId.maxLength);
export const workItemText = textOfLength(1, workItem.fields.work_item_id.schema.maxLength);

/** How long a key is valid, in milliseconds. */
export type Lifetime = number | 'never';

/** A duration, or `never` for a key that does not expire. */
export function lifetime(value: string): Lifetime {
  if (value === 'never') return value;
  const milliseconds = duration(value);
  if (milliseconds <= 0) throw new InvalidArgumentError('It must be longer than 0.');
  return milliseconds;
}

export const integer =
  (min: number, max: number) =>
  (value: string): number => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < min || number > max)
      throw new InvalidArgumentError(`It must be an integer from ${min} to ${max}.`);
    return number;
  };

/** Collects the permissions of an option that can be repeated. */
export function permissions(value: string, previous: string[] = []): string[] {
  if (!(PERMISSIONS as readonly string[]).includes(value))
    throw new InvalidArgumentError(`It must be one of: ${PERMISSIONS.join(', ')}.`);
  return [...new Set([...previous, value])];
}
