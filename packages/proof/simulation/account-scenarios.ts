/** Scenarios of accounts and app keys, which operators change concurrently and warm functions look up. */

import { appKeyIdOf, createAppKeys } from '../../../lib/auth/app-keys.ts';
import { expression } from '../../../lib/dynamodb/expression.ts';
import { type Key, keys, parseKey } from '../../../lib/dynamodb/keys.ts';
import { updateRow } from '../../../lib/dynamodb/row.ts';
import type { AppKeyRow, AuditEntry } from '../../../lib/dynamodb/rows.ts';
import { TIME_LIMITS } from '../../../lib/shared/time-limits.ts';
import { changeAccount, readAccount, storeGatewayKey } from '../../admin/accounts/accounts.ts';
import {
  AppKeyError,
  identityOfAppKey,
  putAppKey,
  revokeAppKey,
  rotateAppKey,
} from '../../admin/accounts/app-key-admin.ts';
import { auditAction } from '../../admin/accounts/audit-rows.ts';
import { type AccountRows, checkAccounts } from '../../admin/check/check-accounts.ts';
import { DataError } from '../../admin/data/check-lines.ts';
import type { Actor } from './behavior.ts';
import type { Scenario } from './explore.ts';
import type { Outcome } from './linearize.ts';
import { accountLine, type Judgement, loadLines, rowsAfter, scenarioOf } from './scenario.ts';
import { type Script, START_MS, type Surroundings } from './surroundings.ts';
import type { FinishedRun } from './transition-system.ts';
import { canonical } from './values.ts';

/** The text of a key, by the short name that scenarios use. */
const textOf = (name: string) => name.padEnd(32, '-');
const identityOf = (name: string) => identityOfAppKey(textOf(name));

/** The ids of the two accounts. */
const [OWN, OTHER] = [1, 2];
/** Seconds for which a warm function trusts a key that it has looked up. */
const TRUSTED_SECONDS = 30;
const START_SECONDS = START_MS / 1_000;
/** By the clock of an operator, which is an hour ahead of the functions'. */
const REVOKED_AT = START_SECONDS + 3_600;
/** Between the two look-ups of a warm function. */
const ENDS_AT = START_SECONDS + 45;

interface KeyState {
  account: number;
  revoked: boolean;
  /** It expires at ENDS_AT. */
  ends: boolean;
}
interface AccountState {
  permissions: readonly string[];
  suspended: boolean;
}
interface State {
  accounts: Readonly<Record<number, AccountState>>;
  keys: Readonly<Record<string, KeyState>>;
}

/** What each operation does in the model, by its name. */
const operations = new Map<string, (state: State) => readonly Outcome<State>[]>();

/** An operator's command, which is repeated unless it succeeds or is refused. */
function operator(name: string, act: (at: Surroundings) => Promise<unknown>, apply: (state: State) => State): Actor {
  operations.set(name, (state) => [
    { state: apply(state), answer: 'done' },
    { state, answer: 'refused' },
  ]);
  const script: Script = (at) =>
    at
      .call(name, () => act(at))
      .catch((error: unknown) => {
        if (!isRefusal(error)) throw error;
      });
  return { name, script, retried: true };
}

const isRefusal = (error: unknown) => error instanceof AppKeyError || error instanceof DataError;

/** The audit entry that a command writes; each run of a command has its own. */
const audit = ({ deps }: Surroundings, command: string) => {
  const entry: AuditEntry = { id: deps.newId(), at_ms: 1, by: 'operator', command, result: 'done' };
  return [auditAction(OWN, entry)];
};

async function ownAccount({ deps: { table } }: Surroundings) {
  const row = await readAccount(table, OWN);
  if (!row) throw new Error(`There is no account ${OWN}.`);
  return row;
}

const keyOf = (account: number): KeyState => ({ account, revoked: false, ends: false });

const withKey = (state: State, key: string, change: (before: KeyState | undefined) => KeyState): State => ({
  ...state,
  keys: { ...state.keys, [key]: change(state.keys[key]) },
});
const withAccount = (state: State, account: number, change: Partial<AccountState>): State => ({
  ...state,
  accounts: { ...state.accounts, [account]: { ...(state.accounts[account] as AccountState), ...change } },
});

const issue = (key: string) =>
  operator(
    `issue ${key}`,
    async (at) =>
      putAppKey(at.deps.table, await ownAccount(at), identityOf(key), { created_at: 1 }, audit(at, `issue ${key}`)),
    (state) =>
      state.keys[key] && state.keys[key].account !== OWN
        ? state
        : withKey(state, key, (before) => before ?? keyOf(OWN)),
  );

const revoke = (key: string) =>
  operator(
    `revoke ${key}`,
    (at) => revokeAppKey(at.deps.table, OWN, identityOf(key).hash, REVOKED_AT, audit(at, `revoke ${key}`)),
    (state) => withKey(state, key, (before) => ({ ...(before as KeyState), revoked: true })),
  );

const rotate = (key: string, fresh: string) =>
  operator(
    `rotate ${key} to ${fresh}`,
    async (at) => {
      const next = { identity: identityOf(fresh), limits: { created_at: 1 } };
      const { hash } = identityOf(key);
      await rotateAppKey(at.deps.table, await ownAccount(at), { hash }, next, ENDS_AT, audit(at, `rotate ${key}`));
    },
    // A repeated rotation is refused if the old key was revoked after the first one was done.
    (state) => {
      const issued = withKey(state, fresh, (before) => before ?? keyOf(OWN));
      return withKey(issued, key, (before) => ({ ...(before as KeyState), ends: true }));
    },
  );

const change = (name: string, changed: Partial<{ permissions: string[]; suspended: boolean }>) =>
  operator(
    name,
    (at) => changeAccount(at.deps.table, OWN, () => changed, audit(at, name)),
    (state) => withAccount(state, OWN, changed),
  );
const suspend = change('suspend', { suspended: true });
const permit = change('permit', { permissions: ['monit'] });

const importing = (name: string, lines: readonly object[], apply: (state: State) => State) =>
  operator(name, ({ deps: { table } }) => loadLines(table, ...lines), apply);

/** Imports a key. It is refused if it is stored for another account. */
const importKey = (key: string, account: number) =>
  importing(
    `import ${key} of ${account}`,
    [{ kind: 'app_key', account_id: account, app_key: textOf(key) }],
    (state) => {
      const stored = state.keys[key];
      if (stored && stored.account !== account) return state;
      return withKey(state, key, (before) => before ?? keyOf(account));
    },
  );

/** A warm function that is called with a key, and again after its cached look-up has expired. */
function lookUps(key: string): Actor {
  const names = ['early', 'late'].map((when) => `look ${when} for ${key}`);
  for (const name of names)
    operations.set(name, (state) => {
      const stored = state.keys[key];
      const { suspended = true, permissions = [] } = stored ? (state.accounts[stored.account] ?? {}) : {};
      const ended = stored?.ends && name.includes('late');
      const valid = stored !== undefined && !stored.revoked && !ended && !suspended;
      const id = appKeyIdOf(identityOf(key).hash);
      return [{ state, answer: valid ? `${id} of ${stored.account} may ${permissions}` : 'nobody' }];
    });
  return {
    name: `handler for ${key}`,
    async script(at) {
      const appKeys = createAppKeys(at.deps);
      for (const name of names)
        await at
          .call(name, async () => {
            await at.pause((TRUSTED_SECONDS + 1) * 1_000);
            const caller = await appKeys.find(textOf(key), { signal: AbortSignal.timeout(TIME_LIMITS.callMs) });
            return caller ? `${caller.appKeyId} of ${caller.accountId} may ${caller.permissions}` : 'nobody';
          })
          .catch(() => undefined);
    },
  };
}

function rowsOf({ items }: FinishedRun): AccountRows {
  const listed = new Set<number>();
  const accounts = new Map<number, never>();
  const appKeys = new Map<string, AppKeyRow>();
  for (const item of items) {
    const { kind, account, parts = [] } = parseKey(item as Key) ?? {};
    if (kind === 'listedAccount') listed.add(Number(account));
    if (kind === 'account') accounts.set(Number(account), item as never);
    if (kind === 'appKey') appKeys.set(String(parts[0]), item as typeof item & AppKeyRow);
  }
  return { listed, accounts, appKeys };
}

const KEYS = ['first', 'second'];

function stateOf(run: FinishedRun): State {
  const { accounts, appKeys } = rowsOf(run);
  return {
    accounts: Object.fromEntries(
      [...accounts].map(([account, row]) => {
        const { permissions, suspended = false } = row as AccountState;
        return [account, { permissions, suspended }];
      }),
    ),
    keys: Object.fromEntries(
      KEYS.flatMap((key) => {
        const row = appKeys.get(identityOf(key).hash);
        if (!row) return [];
        const [revoked, ends] = [row.revoked_at !== undefined, row.expires_at !== undefined];
        return [[key, { account: Number(row.account_id), revoked, ends }]];
      }),
    ),
  };
}

const INITIAL: State = {
  accounts: { [OWN]: { permissions: [], suspended: false }, [OTHER]: { permissions: [], suspended: false } },
  keys: { first: keyOf(OWN) },
};
const LINES = [
  accountLine(OWN),
  accountLine(OTHER),
  { kind: 'app_key', account_id: OWN, app_key: textOf('first'), created_at: 1 },
];

const judgement: Judgement<State> = {
  initial: INITIAL,
  apply: (state, operation) => operations.get(operation)?.(state) ?? [],
  answerOf({ name, answer, error }) {
    if (isRefusal(error)) return 'refused';
    if (error) return String(error);
    return name.startsWith('look') ? String(answer) : 'done';
  },
  isFinal: (state, run) => canonical(state) === canonical(stateOf(run)),
  // Other commands are repeated after a lost reply.
  isSettled: ({ name }) => /^(issue|revoke|rotate)/.test(name),
  describe: (run) => canonical(stateOf(run)),
  check: (run) =>
    [...checkAccounts(rowsOf(run))].map(
      ({ kind, account, ids, detail }) => `${kind} ${account} ${canonical(ids)}: ${detail}`,
    ),
};

const scenario = (name: string, cost: Scenario['cost'], ...actors: Actor[]): Scenario =>
  scenarioOf(name, async () => [await rowsAfter(LINES)], actors, judgement, { cost });

/** Key `second` is stored for the other account, and in the own account's list, as a restore can leave it. */
const WITH_FOREIGN_KEY: Scenario = scenarioOf(
  'an account that lists the key of another is suspended',
  async () => {
    const foreign = { kind: 'app_key', account_id: OTHER, app_key: textOf('second') };
    const listed = expression`ADD app_keys ${new Set([identityOf('second').hash])}`;
    return [await rowsAfter([...LINES, foreign], ({ deps: { table } }) => updateRow(table, keys.account(OWN), listed))];
  },
  [suspend, lookUps('second')],
  {
    ...judgement,
    initial: withKey(INITIAL, 'second', () => keyOf(OTHER)),
    check: (run) => judgement.check?.(run).filter((problem) => !problem.startsWith('app_key_missing')) ?? [],
  },
  { cost: 2 },
);

export const ACCOUNTS: readonly Scenario[] = [
  scenario('a key is issued while its account is suspended', 2, issue('second'), suspend),
  scenario('look-ups of a key while its account is suspended', 2, suspend, lookUps('first')),
  scenario(
    'look-ups of a key that is revoked while its account is changed',
    3,
    revoke('first'),
    permit,
    lookUps('first'),
  ),
  scenario('one key for two accounts: issued and imported', 2, issue('second'), importKey('second', OTHER)),
  scenario(
    'look-ups of a key that is rotated, before and after its end',
    2,
    rotate('first', 'second'),
    lookUps('first'),
  ),
  scenario(
    'an import of a key of another account',
    1,
    // The import is refused as a whole: the line of the account is not written.
    importing(
      'import account 2 with key first',
      [accountLine(OTHER, ['monit']), { kind: 'app_key', account_id: OTHER, app_key: textOf('first') }],
      (state) => state,
    ),
    suspend,
  ),
  WITH_FOREIGN_KEY,
  scenario('one key for two accounts: imported twice', 2, importKey('second', OWN), importKey('second', OTHER)),
  scenario('a key is imported while it is revoked', 1, importKey('first', OWN), revoke('first')),
  scenario('a key is rotated while it is revoked', 1, rotate('first', 'second'), revoke('first')),
  scenario('a key is rotated while it is imported', 2, rotate('first', 'second'), importKey('first', OWN)),
  scenario('a key is rotated while its account is suspended', 3, rotate('first', 'second'), suspend, lookUps('second')),
  scenario(
    'an account gets its gateway key while it is suspended',
    3,
    suspend,
    operator(
      'note the gateway key',
      ({ deps: { table } }) => storeGatewayKey(table, OWN, 'gateway'),
      (state) => state,
    ),
  ),
  scenario(
    'an account is suspended and imported',
    3,
    suspend,
    importing('import the account', [accountLine(OWN)], (state) => withAccount(state, OWN, { permissions: [] })),
  ),
  scenario(
    'an account is suspended, permitted and imported',
    5,
    suspend,
    permit,
    importing('import the account', [accountLine(OWN)], (state) => withAccount(state, OWN, { permissions: [] })),
  ),
];
