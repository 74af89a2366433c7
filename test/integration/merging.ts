/** Incidents and alerts to merge, and merges whose calls to the table can be made to fail. */
import type { Table } from '../../lib/table/client.ts';
import { expectEnvelope } from '../support/answers.ts';
import { type AroundCall, aroundCalls, connectionLost, dyingAfterCommit } from '../support/faults.ts';
import { newAccount } from '../support/incidents.ts';
import { connectAgain, type EventOptions, handlersOver, testDeps } from '../support/service.ts';

/** Maximum rows of a transaction: so few that a merge of 20 alerts is large. */
export const TRANSACTION_ITEMS = 12;

interface InstanceOptions {
  /** Runs around each call to the table. */
  around?: AroundCall;
  /** Milliseconds by which its clock is ahead. */
  aheadMs?: number;
  /** By default {@link TRANSACTION_ITEMS}; undefined: as in production. */
  transactionItems?: number | undefined;
}

interface MergeRequest {
  alert_ids: string[];
  incident_id: string;
  title?: string;
  owner_id?: number;
}

/** A warm instance of the function merge-alerts, with a client of its own. */
export function newMergeInstance(table: Table, { around, aheadMs = 0, ...limits }: InstanceOptions = {}) {
  const ownTable = connectAgain(table);
  if (around) aroundCalls(ownTable, around);
  const deps = testDeps(ownTable, { now: () => Date.now() + aheadMs });
  const { mergeAlerts } = handlersOver(deps, { transactionItems: TRANSACTION_ITEMS, ...limits });
  return { table: ownTable, deps, mergeAlerts };
}

/** A new account with three incidents, and alerts that belong to the first one. */
export async function newScene(table: Table, { alerts: count }: { alerts: number }) {
  const tenant = await newAccount(table);
  const [from, to, elsewhere] = [await tenant.incident(), await tenant.incident(), await tenant.incident()];

  /** Sends a merge through an instance of its own. */
  async function send(body: MergeRequest, { headers = {}, ...options }: InstanceOptions & EventOptions = {}) {
    return tenant.merge(newMergeInstance(table, options).mergeAlerts, body, { headers });
  }
  return {
    tenant,
    from,
    to,
    elsewhere,
    alerts: await tenant.alerts(count, from),
    send,
    /** Merges through an instance of its own, and expects success. */
    async merge(alert_ids: string[], incident_id: string, options: InstanceOptions = {}): Promise<void> {
      expectEnvelope(await send({ alert_ids, incident_id }, options), 200);
    },
    /** Finishes the large merges into an incident. */
    finish: (incidentId: string) => tenant.finish(incidentId, TRANSACTION_ITEMS),
    /** Where the first merge into an incident took its alerts from. */
    firstMoves: async (incidentId: string): Promise<Record<string, string[]>> =>
      (await tenant.feed(incidentId))[0].moved,
  };
}

/** A scene after a merge of all its alerts whose function died after the commit: the merge is pending, and no alert is moved yet. */
export async function newPendingScene(table: Table) {
  const scene = await newScene(table, { alerts: 20 });
  await scene.merge(scene.alerts, scene.to, { around: dyingAfterCommit() });
  return scene;
}

/** Lets `count` transactions pass, and loses the next one and every call after it. */
export function dyingAfterTransactions(count: number): AroundCall {
  const passed: Promise<unknown>[] = [];
  let dead = false;
  return async ({ command }, send) => {
    const isTransaction = command.startsWith('TransactWrite');
    dead ||= isTransaction && passed.length === count;
    if (dead) {
      await Promise.all(passed);
      throw connectionLost();
    }
    const sent = send();
    if (isTransaction) passed.push(sent);
    await sent;
  };
}
