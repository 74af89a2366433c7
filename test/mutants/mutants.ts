/** Bugs to plant, one at a time, and the tests that must notice. */
export interface Mutant {
  /** What is wrong with the planted code. */
  name: string;
  file: string;
  /** Text that occurs once in the file, and what it becomes. */
  find: string;
  replace: string;
  /** Test files that are run. */
  tests: readonly string[];
  /** Of these files only tests whose name matches, where the rest would take long. */
  only?: string;
  /** Form of the tests under fault (`FAULTS`), where the short one makes too few cuts to be sure. */
  form?: string;
}

const integration = (name: string) => `test/integration/${name}.test.ts`;
const unit = (name: string) => `test/unit/${name}.test.ts`;

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'a merge commits though an alert has changed since it was read',
    file: 'lib/incidents/placement.ts',
    find: 'return { ConditionExpression: expression, values: condition.values };',
    replace: "return { ConditionExpression: 'attribute_exists(pk)', values: {}, expression };",
    tests: [integration('merge-large')],
    only: 'changes between',
  },
  {
    name: 'a small merge commits though a large one came between',
    file: 'lib/incidents/commit.ts',
    find: "} else conditions.push(condition.is('last_large', ledger.lastLarge));",
    replace: "} else condition.is('last_large', undefined);",
    tests: [integration('merge-interleavings')],
    only: 'notices a large one',
  },
  {
    name: 'a merge commits before it knows whether all its alerts exist',
    file: 'lib/incidents/merge-alerts.ts',
    find: 'if (!incident || missing.length > 0) throw notFound(missing);',
    replace: 'if (!incident) throw notFound(missing);',
    tests: [integration('merge-large'), integration('merge-alerts')],
    only: 'missing|names what',
  },
  {
    name: 'a lost reply to a commit is a failure',
    file: 'lib/incidents/commit.ts',
    find: 'if (isUnavailable(result.error) && (await stands(table, relocation, signal)))',
    replace: 'if (isUnavailable(result.error) && signal === null)',
    tests: [integration('merge-large')],
    only: 'lost reply',
  },
  {
    name: 'a large merge is taken from the pending ones before its alerts are moved',
    file: 'lib/incidents/move.ts',
    find: 'const unmovable = await moveRanges(table, large, uncovered(whole, moved), options);',
    replace:
      'await removePending(table, account, entry.sequence, options.signal);\n  const unmovable = await moveRanges(table, large, uncovered(whole, moved), options);',
    tests: [integration('merge-interleavings')],
    only: 'cut between its moves',
  },
  {
    name: 'the moves of a large merge follow another order than its list',
    file: 'lib/incidents/relocate.ts',
    find: 'const outcome = await commit(table, large, signal);',
    replace: 'const outcome = await commit(table, { ...large, alertIds: relocation.alertIds }, signal);',
    tests: [integration('merge-interleavings')],
    only: 'cut between its moves',
  },
  {
    name: 'a large merge does not wait for the moves of earlier ones',
    file: 'lib/incidents/move.ts',
    find: 'pending.filter(({ sequence }) => sequence < entry.sequence)',
    replace: 'pending.filter(({ sequence }) => sequence < 0 && entry)',
    tests: [integration('merge-finish')],
    only: 'large too',
  },
  {
    name: 'an alert that stays is believed where it was before the commit',
    file: 'lib/incidents/move.ts',
    find: 'placing?.moves.length !== ids.length',
    replace: 'placing === undefined',
    tests: [integration('merge-interleavings')],
    only: 'moved out of it since',
  },
  {
    name: 'a merge that is finished late takes alerts from a later one',
    file: 'lib/incidents/move.ts',
    find: '(placements?.get(id)?.moved_sequence ?? 0) >= entry.sequence;',
    replace: '(placements?.get(id)?.moved_sequence ?? 0) < 0;',
    tests: [integration('merge-interleavings')],
    only: 'in another division',
  },
  {
    name: 'a stream record is acknowledged before its merge is finished',
    file: 'lib/incidents/finish-merges.ts',
    find: 'await finishMerge(table, account, incidentId, sequence, { transactionItems })',
    replace: 'await finishMerge(table, account, incidentId, sequence, { transactionItems }).catch(() => "")',
    tests: [integration('merge-finish')],
    only: 'fails the record',
  },
  {
    name: 'an Idempotency-Key is not kept',
    file: 'lib/incidents/commit.ts',
    find: '  if (idempotency)\n    actions.push({',
    replace: '  if (idempotency && owner === -1n)\n    actions.push({',
    tests: [integration('merge-alerts')],
  },
  {
    name: 'what a merge depends on is read eventually consistent',
    file: 'lib/table/batch-get.ts',
    find: '{ signal, consistent = true, attributes }',
    replace: '{ signal, consistent = false, attributes }',
    tests: [integration('consistent-reads')],
  },
  {
    name: 'an app key is read eventually consistent',
    file: 'lib/accounts/app-keys.ts',
    find: 'Key: keys.appKey(hash), ConsistentRead: true',
    replace: 'Key: keys.appKey(hash)',
    tests: [integration('consistent-reads')],
  },
  {
    name: 'the account is missing in a key',
    file: 'lib/table/keys.ts',
    find: "workItems: (account: Int64) => of(account, 'WORK_ITEMS')",
    replace: "workItems: (_account: Int64) => of(0, 'WORK_ITEMS')",
    tests: [integration('delete-work-item'), integration('security')],
  },
  {
    name: 'the nonce of the rate count is gone',
    file: 'lib/api/throttle.ts',
    find: 'passed: counts.nonces?.has(nonce) ?? false',
    replace: 'passed: false',
    tests: [integration('rate-limit')],
    only: 'lost',
  },
  {
    name: 'a refusal is not remembered: every further call writes',
    file: 'lib/api/throttle.ts',
    find: 'refusals.set(String(account), { windows, refusedBy });',
    replace: '',
    tests: [integration('rate-limit')],
    only: 'one write a call',
  },
  {
    name: 'a cursor is not checked',
    file: 'lib/fleet/cursor.ts',
    find: 'return timingSafeEqual(bytes.subarray(0, TAG_BYTES), tagOf(secret, hostId)) ?',
    replace: 'return timingSafeEqual(tagOf(secret, hostId), tagOf(secret, hostId)) ?',
    tests: [unit('fleet-cursor'), integration('security')],
  },
  {
    name: 'an expired key is let in',
    file: 'lib/accounts/app-keys.ts',
    find: 'return row.expires_at === undefined || nowMs < row.expires_at * 1000;',
    replace: 'return true;',
    tests: [integration('security')],
  },
  {
    name: 'a revoked key lives on in a cache that is used',
    file: 'lib/accounts/app-keys.ts',
    find: 'if (known && isCurrent(known.sinceMs, lifetimeMs(known.row), now())) return known.row;',
    replace: 'if (known) {\n      known.sinceMs = now();\n      return known.row;\n    }',
    tests: [integration('app-keys')],
  },
  {
    name: 'the permission is not asked for',
    file: 'lib/api/caller.ts',
    find: 'if (!callerOf(event).permissions.includes(permission))',
    replace: 'if (callerOf(event).permissions === undefined)',
    tests: [integration('security')],
  },
  {
    name: 'of two keys the first is taken',
    file: 'lib/api/caller.ts',
    find: 'given.length === 1 ? given[0] : undefined',
    replace: 'given[0]',
    tests: [integration('security')],
  },
  {
    name: 'a work item is deleted whatever its version',
    file: 'lib/incidents/delete-work-item.ts',
    find: "'#version = :version AND attribute_not_exists(deleted_at_ms)'",
    replace: "'(#version = :version OR attribute_exists(pk)) AND attribute_not_exists(deleted_at_ms)'",
    tests: [integration('delete-work-item')],
  },
  {
    name: 'a deletion whose reply was lost is a failure',
    file: 'lib/incidents/delete-work-item.ts',
    find: 'if (stored?.deleted_at_ms !== undefined && BigInt(stored.version) === BigInt(version) + 1n) return;',
    replace: '',
    tests: [integration('delete-work-item')],
  },
  {
    name: 'an undoing takes alerts that were moved since',
    file: 'lib/incidents/placement.ts',
    find: 'at === own && (by === undefined || by === undone) && origins.has(alertId)',
    replace: '(at === own || by === undefined || by === undone || origins.has(alertId))',
    tests: [integration('admin-undo')],
    only: 'moved since',
  },
  {
    name: 'live status that cannot be read fails the page',
    file: 'lib/fleet/hosts.ts',
    find: 'if (readable) onUnreadable(error);',
    replace: 'if (readable) throw error;',
    tests: [integration('browse-failures')],
    only: 'leaves the answer|logged once',
  },
  {
    name: 'a page that is full drops the hosts it has not examined',
    file: 'lib/fleet/browse.ts',
    find: 'scan.more = chunk.more || examined < chunk.candidates.length;',
    replace: 'scan.more = chunk.more;',
    tests: [integration('browse-walk.property'), integration('browse-fleet')],
  },
  {
    name: "an account's change reaches a key of another account",
    file: 'lib/accounts/accounts.ts',
    find: "'account_id = :account AND (attribute_not_exists",
    replace: "'(account_id = :account OR attribute_exists(pk)) AND (attribute_not_exists",
    tests: [integration('import-trust')],
    only: 'never touch',
  },
  {
    name: 'an import gives a key to another account',
    file: 'lib/data/check.ts',
    find: 'if (owner !== undefined && owner !== entity.account_id)',
    replace: 'if (owner !== undefined && owner === undefined)',
    tests: [integration('import-trust')],
    only: 'refused by its line',
  },
  {
    name: 'a revocation waits for the clock',
    file: 'lib/accounts/app-keys.ts',
    find: 'if (row.suspended || row.revoked_at !== undefined) return false;',
    replace: 'if (row.suspended || nowMs >= (row.revoked_at ?? Infinity) * 1000) return false;',
    tests: [integration('app-keys')],
  },
  {
    name: 'an import takes a revocation back',
    file: 'lib/accounts/app-key-admin.ts',
    find: "note === undefined ? ' REMOVE note'",
    replace: "note === undefined ? ' REMOVE note, revoked_at'",
    tests: [integration('import-trust')],
    only: 'a revocation',
  },
  {
    name: 'an import brings a deleted work item back',
    file: 'lib/data/load.ts',
    find: "work_item: 'deleted_at_ms', ",
    replace: '',
    tests: [integration('import-trust')],
    only: 'of a work item',
  },
  {
    name: 'the comment of a merge reaches the terminal as it is',
    file: 'cli/show.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a source file
    find: '[line`    comment: ${entry.comment}`]',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a source file
    replace: '[`    comment: ${entry.comment}`]',
    tests: [integration('terminal')],
    only: 'show incident',
  },
  {
    name: 'a key is logged by its beginning, not by its hash',
    file: 'lib/accounts/app-keys.ts',
    find: 'appKeyId: appKeyIdOf(hash),',
    replace: 'appKeyId: appKey.slice(0, 16),',
    tests: [integration('canary')],
    only: 'of get-rum-resource',
  },
  {
    name: 'the key stays in the event',
    file: 'lib/api/caller.ts',
    find: '  if (single) delete single.app_key;',
    replace: '',
    tests: [integration('app-keys')],
  },
  {
    name: 'integers beyond 2^53 are rounded',
    file: 'lib/json.ts',
    find: 'return Number.isSafeInteger(value) ? value : BigInt(digits);',
    replace: 'return value;',
    tests: [unit('json'), integration('delete-work-item')],
  },
  {
    name: 'a fraction is taken for the integer that a double makes of it',
    file: 'lib/json.ts',
    find: 'return Number.isInteger(value) ? Number.NaN : value;',
    replace: 'return value;',
    tests: [unit('numbers.property')],
  },
  {
    name: 'a body with ids takes the slow parser',
    file: 'lib/json.ts',
    find: '  if (!ROUNDED.test(text)) return false;',
    replace: '  return /\\d{16}|\\d[.eE]/.test(text);',
    tests: [unit('numbers.property')],
    only: 'not chosen for ids',
  },
  {
    name: "bundles hold the SDK's whole chain of credentials",
    file: 'infra/bundle/aliases.ts',
    find: "  '@aws-sdk/credential-provider-node': here('credential-provider-node.ts'),\n",
    replace: '',
    tests: ['test/infra/bundles.test.ts'],
    only: 'no larger',
  },
  {
    name: 'a schema is compiled when a function starts',
    file: 'lib/api/validate.ts',
    find: "import { refuse } from './errors.ts';",
    replace:
      "import { Ajv } from 'ajv';\nimport { refuse } from './errors.ts';\nnew Ajv().compile({ type: 'object' });",
    tests: ['test/infra/bundles.test.ts'],
    only: 'no larger',
  },
];
