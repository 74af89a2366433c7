import { listAppKeys } from '../accounts/accounts.ts';
import type { View } from './view.ts';

/** @returns names who called: a key of the account by its end and its note, an operator as stored */
export async function nameCallers({ table, account }: View): Promise<(by: string) => string> {
  const keys = new Map((await listAppKeys(table, account)).map((key) => [key.app_key_id, key]));
  return (by) => {
    const key = keys.get(by);
    if (key) return `key ${by} (…${key.last_digits}${key.note ? `, ${key.note}` : ''})`;
    return by.startsWith('operator ') ? by : `key ${by}`;
  };
}
