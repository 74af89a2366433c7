/** Scenarios of accounts and app keys, which operators change concurrently and warm functions look up. */

import { appKeyIdOf, createAppKeys } from '../../../lib/auth/app-keys.ts';
import type { Table } from '../../../lib/dynamodb/client.ts';
import { expression } from '../../../lib/dynamodb/expression.ts';
import { keys } from '../../../lib/dynamodb/keys.ts';
import { updateRow } from '../../../lib/dynamodb/row.ts';
import type { AuditEntry } from '../../../lib/dynamodb/rows.ts';
import type { Action } from '../../../lib/dynamodb/transact.ts';
import { TIME_LIMITS } from '../../../lib/shared/time-limits.ts';
import { changeAccount, readAccount, storeGatewayKey } from '../../admin/accounts/accounts.ts';
import { AppKeyError, putAppKey, revokeAppKey, rotateAppKey } from '../../admin/accounts/app-key-admin.ts';
import { auditAction } from '../../admin/accounts/audit-rows.ts';
import { checkAccounts } from '../../admin/check/check-accounts.ts';
import { DataError } from '../../admin/data/check-lines.ts';
import {
  INITIAL,
  identityOf,
  issuedTo,
  OTHER,
  OWN,
  rowsOf,
  type State,
  stateOf,
  textOf,
  withAccount,
  withKey,
} from './account-model.ts';
import { START_MS } from './environment.ts';
import type { Scenario } from './explore.ts';
import {
  type Apply,
  accountLine,
  type Judgement,
  loadLines,
  type ModelledActor,
  rowsAfter,
  scenarioOf,
} from './scenario.ts';
import { canonical } from './values.ts';

/** Seconds for which a warm function trusts a key that it has looked up. */
const TRUSTED_SECONDS = 30;
const START_SECONDS = START_MS / 1_000;
/** When a key is revoked, by the clock of an operator, which is an hour ahead of the functions' clock. */
const REVOKED_AT = START_SECONDS + 3_600;
/** When a rotated key expires: between the two look-ups of a warm function. */
const EXPIRES_AT = START_SECONDS + 45;

/** An operator's command, which is repeated unless it succeeds or is refused. `audit` makes a new audit entry for each run. */
const operator = (
  name: string,
  run: (table: Table, audit: () => Action[]) => Promise<unknown>,
  change: (state: State) => State,
): ModelledActor<State> => ({
  name,
  async script({ invoke, deps: { table, newId } }) {
    const audit = () => [
      auditAction(OWN, { id: newId(), at_ms: 1, by: 'operator', command: name, result: 'done' } satisfies AuditEntry),
    ];
    await invoke(name, () => run(table, audit)).catch((error: unknown) => {
      if (!isRefusal(error)) throw error;
    });
  },
  operations: {
    [name]: (state) => [
      { state: change(state), answer: 'done' },
      { state, answer: 'refused' },
    ],
  },
  retried: true,
});

const isRefusal = (error: unknown) => error instanceof AppKeyError || error instanceof DataError;

async function ownAccount(table: Table) {
  const row = await readAccount(table, OWN);
  if (!row) throw new Error(`There is no account ${OWN}.`);
  return row;
}

const issue = (key: string) =>
  operator(
    `issue ${key}`,
    async (table, audit) => putAppKey(table, await ownAccount(table), identityOf(key), { created_at: 1 }, audit()),
    (state) => issuedTo(state, key, OWN),
  );

const revoke = (key: string) =>
  operator(
    `revoke ${key}`,
    (table, audit) => revokeAppKey(table, OWN, identityOf(key).hash, REVOKED_AT, audit()),
    (state) => withKey(state, key, { revoked: true }),
  );

const rotate = (key: string, newKey: string) =>
  operator(
    `rotate ${key} to ${newKey}`,
    async (table, audit) => {
      const next = { identity: identityOf(newKey), details: { created_at: 1 } };
      await rotateAppKey(table, await ownAccount(table), identityOf(key), next, EXPIRES_AT, audit());
    },
    // A repeated rotation is refused if the old key was revoked after the earlier rotation.
    (state) => withKey(issuedTo(state, newKey, OWN), key, { expires: true }),
  );

const change = (name: string, changed: { permissions: string[] } | { suspended: boolean }) =>
  operator(
    name,
    (table, audit) => changeAccount(table, OWN, () => changed, audit()),
    (state) => withAccount(state, OWN, changed),
  );
const suspend = change('suspend', { suspended: true });
const permit = change('permit', { permissions: ['monit'] });

const importing = (name: string, lines: readonly object[], change: (state: State) => State) =>
  operator(name, (table) => loadLines(table, ...lines), change);

const importAccount = importing('import the account', [accountLine(OWN)], (state) =>
  withAccount(state, OWN, { permissions: [] }),
);

/** Imports a key. The import is refused if the key is stored for another account. */
const importKey = (key: string, account: number) =>
  importing(`import ${key} of ${account}`, [{ kind: 'app_key', account_id: account, app_key: textOf(key) }], (state) =>
    issuedTo(state, key, account),
  );

/** A warm function that is called with a key, and again after its cached look-up has expired. */
function lookUps(key: string): ModelledActor<State> {
  const [early, late] = [`look up ${key} early`, `look up ${key} late`];
  const lookUp =
    (isLate: boolean): Apply<State> =>
    (state) => {
      const stored = state.keys[key];
      const { suspended = true, permissions = [] } = stored ? (state.accounts[stored.account] ?? {}) : {};
      const valid = stored !== undefined && !stored.revoked && !(stored.expires && isLate) && !suspended;
      const id = appKeyIdOf(identityOf(key).hash);
      return { state, answer: valid ? `${id} of ${stored.account} may ${permissions}` : 'nobody' };
    };
  return {
    name: `handler for ${key}`,
    async script(environment) {
      const appKeys = createAppKeys(environment.deps);
      for (const name of [early, late])
        await environment
          .invoke(name, async () => {
            await environment.pause((TRUSTED_SECONDS + 1) * 1_000);
            const caller = await appKeys.find(textOf(key), { signal: AbortSignal.timeout(TIME_LIMITS.callMs) });
            return caller ? `${caller.appKeyId} of ${caller.accountId} may ${caller.permissions}` : 'nobody';
          })
          .catch(() => undefined);
    },
    operations: { [early]: lookUp(false), [late]: lookUp(true) },
  };
}

const LINES = [
  accountLine(OWN),
  accountLine(OTHER),
  { kind: 'app_key', account_id: OWN, app_key: textOf('first'), created_at: 1 },
];

const judgement: Judgement<State> = {
  initial: INITIAL,
  answerOf({ name, answer, error }) {
    if (isRefusal(error)) return 'refused';
    if (error) return String(error);
    return name.startsWith('look') ? String(answer) : 'done';
  },
  stateOf,
  // Other commands are repeated after a lost reply.
  survivesLostReply: ({ name }) => /^(issue|revoke|rotate)/.test(name),
  check: (run) =>
    [...checkAccounts(rowsOf(run))].map(
      ({ kind, account, ids, detail }) => `${kind} ${account} ${canonical(ids)}: ${detail}`,
    ),
};

const scenario = (name: string, cost: Scenario['cost'], ...actors: ModelledActor<State>[]): Scenario =>
  scenarioOf(name, async () => [await rowsAfter(LINES)], actors, judgement, { cost });

/** Key `second` is stored for the other account, but the own account lists it, too: a restore can leave this. */
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
    initial: issuedTo(INITIAL, 'second', OTHER),
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
    'look-ups of a key that is rotated, before and after it expires',
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
      'store the gateway key',
      (table) => storeGatewayKey(table, OWN, 'gateway'),
      (state) => state,
    ),
  ),
  scenario('an account is suspended and imported', 3, suspend, importAccount),
  scenario('an account is suspended, permitted and imported', 5, suspend, permit, importAccount),
];
