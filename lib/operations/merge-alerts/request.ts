/** What a call asks to merge. */
import { createHash } from 'node:crypto';
import type { Call, RequestOf } from '../../http/operation.ts';
import { type Int64, stringifyJson } from '../../shared/json.ts';
import { keys } from '../../table/keys.ts';
import type { Idempotency } from './commit.ts';
import { mergeAlerts } from './schema.ts';

/** Also made by an operator's command, without a body. */
export type MergeCall = Omit<Call<RequestOf<typeof mergeAlerts>>, 'bodyBytes' | 'catalog'>;

/** A merge, with ids in lower case. An empty title or comment counts as absent. */
export interface MergeRequest {
  readonly account: Int64;
  /** Without repetitions. */
  readonly alertIds: readonly string[];
  readonly incidentId: string;
  readonly comment: string | undefined;
  /** The incident's new title. */
  readonly title: string | undefined;
  /** Id of the incident's new owner. */
  readonly owner: Int64 | undefined;
  readonly idempotency: Idempotency | undefined;
}

const IDEMPOTENCY_SECONDS = 24 * 60 * 60;

export function mergeRequestOf({ body, caller, idempotencyKey }: MergeCall, nowMs: number): MergeRequest {
  const { accountId: account } = caller;
  const alertIds = [...new Set(body.alert_ids.map((id) => id.toLowerCase()))];
  const incidentId = body.incident_id.toLowerCase();
  const [comment, title] = [body.comment || undefined, body.title || undefined];
  const owner = body.owner_id;
  const request = { account, alertIds, incidentId, comment, title, owner };
  if (idempotencyKey === undefined) return { ...request, idempotency: undefined };
  const nowSeconds = Math.floor(nowMs / 1000);
  // Equal for bodies that mean the same.
  const meaning = [alertIds.toSorted(), incidentId, comment ?? null, title ?? null, owner ?? null];
  const idempotency = {
    key: keys.idempotency(account, mergeAlerts.name, sha256(idempotencyKey)),
    bodyHash: sha256(stringifyJson(meaning)),
    nowSeconds,
    ttl: nowSeconds + IDEMPOTENCY_SECONDS,
  };
  return { ...request, idempotency };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
