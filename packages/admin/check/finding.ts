/** What a check finds wrong, and the writes that fix it. */

import type { Int64 } from '../../../lib/shared/json.ts';
import type { Action } from '../../../lib/table/write.ts';

/** The meaning of each kind of finding. The output of `admin check --json` contains the names. */
export const FINDINGS = {
  alert_misplaced: 'an alert is not where the histories put it',
  alert_entry_missing: 'an alert was moved by an entry that no history has',
  alert_incident_missing: 'an alert is in an incident that does not exist',
  alert_key_outdated: 'an alert key does not name its last alert, or not truly whether that is open',
  alert_not_ended: 'an alert is open although the row of its key says that it has ended',
  alert_open_twice: 'an alert is open although its key has a later one',
  entry_unlisted: "an account's log does not name an entry",
  entry_origins_outdated: 'an entry does not say truly where its alerts came from, or an undo where they went',
  merged_in_two_regions: 'two regions moved an alert, and the later entry did not know of the earlier one',
  entry_incident_missing: 'an incident that has a history does not exist',
  entry_alert_missing: 'an alert of an entry does not exist',
  entry_not_applied: 'an incident lacks the title or owner that its history gave it',
  incident_entry_missing: 'an incident has the title or owner of an entry that its history does not have',
  host_not_retired: 'a host has rows from before its retirement',
  incident_owner_missing: 'the owner of an incident does not exist',
  log_head_behind: 'the log head does not have the latest sequence',
  log_count_wrong: 'a number of entries is not that of the entries that there are',
  log_entry_missing: "an account's log names an entry that no history has",
  pending_entry_missing: 'the log head names an entry as pending that no history has',
  merge_unfinished: 'an entry still has alerts left to move, long after its commit',
  idempotency_entry_missing: 'an Idempotency-Key is remembered for an entry that no history has',
  account_missing: 'something belongs to an account that does not exist',
  erasure_unfinished: 'something is left of an account that is being erased, or was',
  account_outdated: 'a key has a later state of its account than the account itself',
  account_unlisted: 'an account is not in the list of accounts',
  app_key_missing: 'an account lists a key that does not exist',
  app_key_unlisted: 'a key is not in the list of its account',
  app_key_valid: 'a key is valid although its account does not exist',
  app_key_outdated: 'a key does not have the current permissions and state of its account',
} as const;

export type FindingKind = keyof typeof FINDINGS;

export interface Finding {
  readonly kind: FindingKind;
  readonly account: Int64;
  /** What the finding is about: ids, by the names of their attributes. */
  readonly ids: Readonly<Record<string, string | number>>;
  /** The stored and the right state, as a clause that contains no text of callers. */
  readonly detail: string;
  /** Writes on the condition that the rows are unchanged since they were read. Empty: the right state is unknown. */
  readonly fixes: readonly Action[];
}

export const findingsOf =
  (account: Int64) =>
  (kind: FindingKind, ids: Finding['ids'], detail: string, ...fixes: readonly Action[]): Finding => ({
    kind,
    account,
    ids,
    detail,
    fixes,
  });
