import { changeOf, type FeedEntry, type IncidentChange, type IncidentRow } from '../incidents/feed.ts';
import type { FeedItem } from '../incidents/read.ts';
import { Condition, updateOf, valuesOf } from '../incidents/transaction.ts';
import type { Int64 } from '../json.ts';
import { keys } from '../table/keys.ts';
import type { Finding, Fix } from './finding.ts';
import { changesOf, type MergeRows } from './merge-rows.ts';

/** What merges change of an incident. */
type Fields = Pick<IncidentRow, 'title' | 'owner_id' | 'last_change'>;

/**
 * Whether incidents have the titles and owners that their feeds gave them last. What others have written since stays: an
 * incident notes which entry changed it last, and what was before.
 */
export function* checkIncidents(
  { account, incidents }: MergeRows,
  entries: readonly FeedItem[],
  tableName: string,
): Generator<Finding> {
  for (const [incidentId, incident] of incidents) {
    const { loaded_after: loadedAfter = 0, last_change: noted } = incident;
    const changes = changesOf(entries, incidentId).filter(({ sequence }) => sequence > loadedAfter);
    const last = changes.at(-1);
    if (noted?.sequence === last?.sequence) continue;
    let should: Fields = incident;
    const isUnknown = noted !== undefined && !changes.some(({ sequence }) => sequence === noted.sequence);
    if (isUnknown) should = reverted(should, noted);
    const reached = isUnknown
      ? changes.findLast(({ sequence }) => sequence < noted.sequence)?.sequence
      : noted?.sequence;
    for (const entry of changes) if (entry.sequence > (reached ?? 0)) should = applied(should, entry);
    should = { ...should, ...(last ? { last_change: changeOf(last) } : {}) };
    if (!last) should = { title: should.title, ...(should.owner_id !== undefined && { owner_id: should.owner_id }) };
    yield {
      kind: isUnknown ? 'incident_entry_missing' : 'entry_not_applied',
      account,
      ids: { incident_id: incidentId, sequence: (isUnknown ? noted.sequence : last?.sequence) ?? 0 },
      detail: isUnknown
        ? 'its title and owner go back to what they were'
        : `its title and owner are as before entry ${last?.sequence}`,
      fixes: [put(tableName, account, incidentId, incident, should)],
    };
  }
}

const reverted = ({ title, owner_id }: Fields, { old_title, old_owner_id }: IncidentChange): Fields => {
  const owner = old_owner_id === undefined ? owner_id : (old_owner_id ?? undefined);
  return { title: old_title ?? title, ...(owner !== undefined && { owner_id: owner }) };
};

const applied = ({ title, owner_id }: Fields, { new_title, new_owner_id }: FeedEntry): Fields => {
  const owner = new_owner_id ?? owner_id;
  return { title: new_title ?? title, ...(owner !== undefined && { owner_id: owner }) };
};

/** Gives an incident these fields, if it is as it was read. */
function put(tableName: string, account: Int64, incidentId: string, was: IncidentRow, should: Fields): Fix {
  const condition = new Condition();
  const conditions = [
    'attribute_exists(pk)',
    condition.is('title', was.title),
    condition.is('owner_id', was.owner_id),
    condition.is('last_change', was.last_change),
  ];
  const { title, owner_id, last_change } = should;
  const { expression, values } = updateOf({ title, owner_id, last_change });
  return {
    Update: {
      TableName: tableName,
      Key: keys.incident(account, incidentId),
      ...expression,
      ConditionExpression: conditions.join(' AND '),
      ...valuesOf({ ...condition.values, ...values }),
    },
  };
}
