/**
 * The operations. Stack, local gateway, API reference and tests read this list; functions import only
 * their own operation.
 */
import type { Operation } from '../http/operation.ts';
import { browseFleet } from './browse-fleet/schema.ts';
import { deleteWorkItem } from './delete-work-item/schema.ts';
import { getAlert } from './get-alert/schema.ts';
import { getRumResource } from './get-rum-resource/schema.ts';
import { listAlerts } from './list-alerts/schema.ts';
import { listIncidents } from './list-incidents/schema.ts';
import { listMembers } from './list-members/schema.ts';
import { mergeAlerts } from './merge-alerts/schema.ts';
import { sendNotification } from './send-notification/schema.ts';
import { sendRecords } from './send-records/schema.ts';

export const operations = [
  browseFleet,
  getRumResource,
  deleteWorkItem,
  sendRecords,
  sendNotification,
  listAlerts,
  getAlert,
  listIncidents,
  listMembers,
  mergeAlerts,
] as const satisfies Operation[];

export type OperationName = (typeof operations)[number]['name'];
/** An element of {@link operations}: its name is an {@link OperationName}. */
export type ListedOperation = Operation & { readonly name: OperationName };

type CamelCase<Text extends string> = Text extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Text;
/** The name of an operation in code and in openapi.json: `browseFleet` for `browse-fleet`. */
export type OperationId<Name extends string = OperationName> = CamelCase<Name>;

export const operationIdOf = <Name extends string>(name: Name): OperationId<Name> =>
  name.replace(/-(\w)/g, (_all, letter: string) => letter.toUpperCase()) as OperationId<Name>;

/** The route of openapi.json, which needs no app key. */
export const openApiRoute = { method: 'GET', path: '/openapi.json' } as const;

/** The method of each path that is served. Computed on call, so that esbuild drops it from bundles that do not call it. */
export const allowedMethods = (): Readonly<Record<string, string>> =>
  Object.fromEntries([...operations, openApiRoute].map(({ method, path }) => [path, method]));
