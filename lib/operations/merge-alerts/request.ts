import { hash } from 'node:crypto';
import type { Call, RequestOf } from '../../http/operation.ts';
import { type Int64, stringifyJson } from '../../shared/json.ts';
import { type KeyOf, keys } from '../../table/keys.ts';
import { mergeAlerts } from './schema.ts';

/** What is known of a call, or what an operator's command gives in place of one. */
export type MergeCall = Omit<Call<RequestOf<typeof mergeAlerts>>, 'bodyBytes' | 'catalog'>;

/** Of the row that makes a repeated call a no-op. Times are Unix seconds. */
export interface Idempotency {
  key: KeyOf<'idempotency'>;
  bodyHash: string;
  nowSeconds: number;
  ttl: number;
}

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
  /** The id of the app key of the call, or the operator. */
  readonly by: string;
  readonly requestId: string;
  /** When API Gateway got the call, in Unix milliseconds. */
  readonly arrivedMs: number;
}

const IDEMPOTENCY_SECONDS = 24 * 60 * 60;

export function mergeRequestOf(call: MergeCall, nowMs: number): MergeRequest {
  const { body, caller, requestId, arrivedMs } = call;
  const request = {
    account: caller.accountId,
    alertIds: [...new Set(body.alert_ids.map((id) => id.toLowerCase()))],
    incidentId: body.incident_id.toLowerCase(),
    comment: body.comment || undefined,
    title: body.title || undefined,
    owner: body.owner_id,
    by: caller.appKeyId,
    requestId,
    arrivedMs,
  };
  return { ...request, idempotency: idempotencyOf(call, request, Math.floor(nowMs / 1000)) };
}

function idempotencyOf(
  { idempotencyKey }: MergeCall,
  { account, alertIds, incidentId, comment, title, owner }: Omit<MergeRequest, 'idempotency'>,
  nowSeconds: number,
): Idempotency | undefined {
  if (idempotencyKey === undefined) return undefined;
  // Equal for bodies that mean the same.
  const meaning = [alertIds.toSorted(), incidentId, comment ?? null, title ?? null, owner ?? null];
  return {
    key: keys.idempotency(account, mergeAlerts.name, hash('sha256', idempotencyKey)),
    bodyHash: hash('sha256', stringifyJson(meaning)),
    nowSeconds,
    ttl: nowSeconds + IDEMPOTENCY_SECONDS,
  };
}
