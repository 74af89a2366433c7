/** The examples of openapi.json, with the sample data. Tests execute each of them. */
import { ERROR_CODES, type ErrorCode } from '../../lib/http/errors.ts';
import { catalog as en } from '../../lib/http/messages/en.ts';
import { getRumResource, type OperationName } from '../../lib/http/operations.ts';
import type { HostRow, HostStatusRow } from '../../lib/operations/browse-fleet/fleet-rows.ts';
import { fleetHost } from '../../lib/operations/browse-fleet/host-status.ts';
import { sampleData } from './sample.ts';

export const REQUEST_ID = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

/** When the examples were answered: also the time of the sample data. Unix milliseconds. */
const NOW = 1_795_231_227_854;
const SHOWN_HOST = 'fra-1-cache-0216';
const sample = sampleData(NOW).map((line): Record<string, unknown> => JSON.parse(line));
const sampleRow = (kind: string, hostId?: string) =>
  sample.find((row) => row.kind === kind && row.account_id === 1 && (hostId === undefined || row.host_id === hostId));
const rum = { ...sampleRow('rum_resource'), ...sampleRow('rum_usage') };

/** The groups of operations in the description. */
export const TAGS = {
  Monitoring: 'Hosts and the state of their network-topology collection',
  RUM: 'Real-user monitoring: plan, quotas, usage',
  Incidents: 'Alerts, incidents and work items',
} as const;

/** Of the examples. */
export const LARGE_ALERT = '5f0c2a9d1b7e4c3f8a6d9e01';
export const MISSING_ALERT = 'ffffffffffffffffffffffff';

/** A request, and the message that it is answered with. */
interface ErrorExample {
  readonly summary: string;
  readonly message: string;
}

/** What the description says of an operation beside what the list of operations says. */
export interface OperationDocumentation {
  tag: keyof typeof TAGS;
  description: string;
  /** A worked example: a request, and what it is answered with. */
  request: object;
  data: unknown;
  /** Headers of its successful answers that no other has. */
  headers?: readonly 'Age'[];
  /** Of errors that only it answers, or of which it has an example of its own. */
  errors: Partial<Record<AnsweredCode, ErrorExample>>;
}

export const DOCUMENTATION: Readonly<Record<OperationName, OperationDocumentation>> = {
  'browse-fleet': {
    tag: 'Monitoring',
    errors: {
      AccessDenied: {
        summary: 'The account lacks the permission Targets Read',
        message: en.explain.permissionMissing({ permission: 'monit' }),
      },
      RequestTooFrequently: {
        summary: 'The third call in a second',
        message: en.explain.tooFrequent({ limit: 2, windowSeconds: 1 }),
      },
    },
    description:
      'Requires the permission Targets Read (`monit`).\n\n' +
      'One page of hosts in ascending order of `host_id`, each with its status at `generated_at_ms`. All filters given must match; ' +
      'an empty one matches every host. A page ends when it is full, when `scan_limit` hosts were examined, or with the last host; ' +
      '`next_cursor` is present as long as hosts are left. If live status cannot be read, hosts are shown from the inventory, ' +
      '`coverage.failed` counts them, and `partial` is true.\n\n' +
      'A call counts against the limits of 2 a second and 30 a minute once it has passed all other checks. Responses to counted calls ' +
      '(200, and 500 or 503 of the operation itself) and the 429 of these limits have the rate-limit headers. No other response has them: ' +
      'the 429 of the usage plan (50 calls a second for each account and operation) has `Retry-After` alone.',
    request: { limit: 1, statuses: ['degraded', 'stale'] },
    data: {
      items: [
        fleetHost(sampleRow('host', SHOWN_HOST) as HostRow, sampleRow('host_status', SHOWN_HOST) as HostStatusRow, NOW),
      ],
      coverage: {
        scanned: 7,
        matched: 1,
        returned: 1,
        failed: 0,
        states: { active: 0, degraded: 1, stale: 0, initializing: 0, disabled: 0, unsupported: 0, no_data: 0 },
      },
      partial: false,
      truncated: false,
      next_cursor: 'SSAMowHlNqTmsu2IPHdy42ZyYS0xLWNhY2hlLTAyMTY',
      generated_at_ms: NOW,
    },
  },
  'get-rum-resource': {
    tag: 'RUM',
    errors: {
      ResourceNotFound: {
        summary: 'The account has no RUM resource',
        message: en.explain.rumResourceNotFound(undefined),
      },
    },
    headers: ['Age'],
    description:
      'The record may be as old as the header `Age` says, unless `no_cache` is true; usage is read on every call.',
    request: { no_cache: true },
    data: Object.fromEntries(Object.keys(getRumResource.response.properties).map((field) => [field, rum[field]])),
  },
  'delete-work-item': {
    tag: 'Incidents',
    errors: {
      BadRequest: {
        summary: 'The work item wi-large has too much stored data',
        message: en.explain.workItemTooLarge({ workItemId: 'wi-large' }),
      },
      ResourceNotFound: {
        summary: 'The work item wi-none does not exist',
        message: en.explain.workItemNotFound({ workItemId: 'wi-none' }),
      },
    },
    description:
      '`version` must be the stored version; the deletion adds 1 to it. Repeating the call with the same version succeeds and does nothing.',
    request: { work_item_id: 'wi-1001', version: 1 },
    data: {},
  },
  'merge-alerts': {
    tag: 'Incidents',
    errors: {
      BadRequest: {
        summary: 'An alert has too much stored data',
        message: en.explain.alertsTooLarge({ some: [LARGE_ALERT], more: 0 }),
      },
      ResourceNotFound: {
        summary: 'An alert does not exist',
        message: en.explain.mergeTargetsNotFound({ some: [{ what: 'alert', id: MISSING_ALERT }], more: 0, unread: 0 }),
      },
    },
    description:
      "All of the alerts are moved or none, however many. The incident's feed gets one entry that lists where each came from. With an " +
      '`Idempotency-Key` a merge can be repeated for 24 hours without being done twice. After a 503 or a lost response the merge may have been done: ' +
      'repeat it with the same key to find out. `BadRequest`: an alert or the incident has too much stored data (400 KB) to be changed.',
    request: {
      alert_ids: ['23a5a8cc741f9d42df78f93f', 'd3afd55730b974e815f545aa'],
      incident_id: '40637f096ece1da9c808ecde',
      comment: 'same cause',
    },
    data: null,
  },
};

/** Bytes of a request body, unless the deployment says otherwise. */
const LARGEST_BODY = 256 * 1024;

/** What any operation answers. */
const COMMON_EXAMPLES = {
  InvalidParameter: { summary: 'The body is a JSON array', message: en.explain.bodyNotObject(undefined) },
  InvalidContentType: { summary: 'A body is sent as text/plain', message: en.codes.InvalidContentType },
  BadRequest: {
    summary: 'A body of few bytes is compressed',
    message: en.explain.bodyEncoded({ encoding: 'gzip' }),
  },
  Unauthorized: { summary: 'The app_key is unknown', message: en.codes.Unauthorized },
  EntityTooLarge: {
    summary: 'The body has a byte more than 256 KiB',
    message: en.explain.bodyTooLarge({ maxBytes: LARGEST_BODY }),
  },
  RequestTooFrequently: {
    summary: 'More calls than the usage plan of the account allows',
    message: en.codes.RequestTooFrequently,
  },
  InternalError: { summary: 'A defect of the service', message: en.codes.InternalError },
  ServiceUnavailable: { summary: 'DynamoDB does not answer', message: en.codes.ServiceUnavailable },
} as const satisfies Partial<Record<ErrorCode, ErrorExample>>;

/** A code that some operation answers. */
export type AnsweredCode = keyof typeof COMMON_EXAMPLES | 'ResourceNotFound' | 'AccessDenied';

/** An example of each error code that an operation answers, in the order of the table of codes. */
export function errorExamples(name: OperationName): [code: AnsweredCode, example: ErrorExample][] {
  const examples: Partial<Record<ErrorCode, ErrorExample>> = { ...COMMON_EXAMPLES, ...DOCUMENTATION[name].errors };
  return (Object.keys(ERROR_CODES) as AnsweredCode[]).flatMap((code) => {
    const example = examples[code];
    return example ? [[code, example]] : [];
  });
}
