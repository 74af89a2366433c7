/** A sequential model of accounts and app keys, and the rows that hold its state. */
import { type Key, parseKey } from '../../../lib/dynamodb/keys.ts';
import type { AccountRow, AppKeyRow } from '../../../lib/dynamodb/rows.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { identityOfAppKey } from '../../admin/accounts/app-key-admin.ts';
import type { FinishedRun } from './state.ts';
import type { Item } from './values.ts';

/** The text of a key, by the short name that scenarios use. */
export const textOf = (name: string) => name.padEnd(32, '-');
export const identityOf = (name: string) => identityOfAppKey(textOf(name));

/** The ids of the two accounts. */
export const [OWN, OTHER] = [1, 2];

interface KeyState {
  account: number;
  revoked: boolean;
  /** Whether it expires between the two look-ups of a warm function. */
  expires: boolean;
}
interface AccountState {
  permissions: readonly string[];
  suspended: boolean;
}
export interface State {
  accounts: Readonly<Record<string, AccountState>>;
  keys: Readonly<Record<string, KeyState>>;
}

const NEW_KEY: KeyState = { account: OWN, revoked: false, expires: false };
const NEW_ACCOUNT: AccountState = { permissions: [], suspended: false };

export const INITIAL: State = {
  accounts: { [OWN]: NEW_ACCOUNT, [OTHER]: NEW_ACCOUNT },
  keys: { first: NEW_KEY },
};

export const withKey = (state: State, key: string, change: Partial<KeyState>): State => ({
  ...state,
  keys: { ...state.keys, [key]: { ...NEW_KEY, ...state.keys[key], ...change } },
});
export const withAccount = (state: State, account: number, change: Partial<AccountState>): State => ({
  ...state,
  accounts: { ...state.accounts, [account]: { ...NEW_ACCOUNT, ...state.accounts[account], ...change } },
});

/** Stores a new key for an account. A key that exists stays as it is, even if another account has it. */
export const issuedTo = (state: State, key: string, account: number) =>
  state.keys[key] ? state : withKey(state, key, { account });

export function rowsOf({ items }: FinishedRun) {
  const listed = new Set<Int64>();
  const accounts = new Map<Int64, AccountRow>();
  const appKeys = new Map<string, AppKeyRow>();
  for (const item of items) {
    const { kind, account = 0, parts = [] } = parseKey(item as Key) ?? {};
    if (kind === 'listedAccount') listed.add(account);
    if (kind === 'account') accounts.set(account, item as Item & AccountRow);
    if (kind === 'appKey') appKeys.set(String(parts[0]), item as Item & AppKeyRow);
  }
  return { listed, accounts, appKeys };
}

/** The state that the rows hold. */
export function stateOf(run: FinishedRun): State {
  const { accounts, appKeys } = rowsOf(run);
  const keyState = ({ account_id, revoked_at, expires_at }: AppKeyRow): KeyState => {
    return { account: Number(account_id), revoked: revoked_at !== undefined, expires: expires_at !== undefined };
  };
  return {
    accounts: Object.fromEntries(
      [...accounts].map(([account, { permissions, suspended = false }]) => [account, { permissions, suspended }]),
    ),
    keys: Object.fromEntries(
      ['first', 'second'].flatMap((key) => {
        const row = appKeys.get(identityOf(key).hash);
        return row ? [[key, keyState(row)]] : [];
      }),
    ),
  };
}
