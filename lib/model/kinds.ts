/** All kinds of records. Feed, import, export, rows, lists, `feed.schema.json` and `openapi.json` follow from what is declared of them. */
import type { Int64 } from '../shared/json.ts';
import { account } from './account.ts';
import { alert } from './alert.ts';
import { appKey } from './app-key.ts';
import type { KindModel, OrderNameOf } from './fields.ts';
import { host } from './host.ts';
import { hostStatus } from './host-status.ts';
import { incident } from './incident.ts';
import { member } from './member.ts';
import type { Order } from './order.ts';
import { rumResource, rumUsage } from './rum.ts';
import { workItem } from './work-item.ts';

const MODELS = {
  account,
  app_key: appKey,
  member,
  host,
  host_status: hostStatus,
  rum_resource: rumResource,
  rum_usage: rumUsage,
  work_item: workItem,
  incident,
  alert,
} as const satisfies Record<string, KindModel>;

export type Kind = keyof typeof MODELS;
export const KINDS = Object.keys(MODELS) as Kind[];

export const modelOf = (kind: Kind): KindModel => MODELS[kind];

/** Kinds that give access to the API: import accepts them, the feed does not. */
const ACCESS_KINDS = ['account', 'app_key'] as const;
export type IngestKind = Exclude<Kind, (typeof ACCESS_KINDS)[number]>;
export const INGEST_KINDS = KINDS.filter(
  (kind): kind is IngestKind => !(ACCESS_KINDS as readonly Kind[]).includes(kind),
);

type AnyGroups = (typeof MODELS)[Kind]['groups'];
export type OrderName = AnyGroups extends infer Groups
  ? Groups extends KindModel['groups']
    ? OrderNameOf<Groups>
    : never
  : never;
/** Orders of a row, by the attributes that store them: those of the records that wrote its groups last. */
export type Orders = Readonly<Partial<Record<OrderName, Order>>>;

/** A record that passed the checks of its kind. */
export type SentRecord<OfKind extends Kind = Kind> = { kind: OfKind; account_id: Int64 } & Record<string, unknown>;
