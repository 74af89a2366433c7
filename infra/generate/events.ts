/** `events.schema.json`, the JSON Schema of the events with a sample of each. Tests check the events that relay sends against it. */
import { SEVERITIES } from '../../lib/model/alert.ts';
import { SERVICE } from '../../lib/shared/log.ts';

const int64 = { type: 'integer', format: 'int64' };
const objectId = { type: 'string', pattern: '^[0-9a-f]{24}$' };
const appKeyId = {
  type: 'string',
  pattern: '^[0-9a-f]{16}$',
  description: 'Identifies an app key without revealing it',
};
const count = { type: 'integer', minimum: 0 };
const sequence = { ...count, description: "Orders an account's merges and undos" };
const historyEntry = { incident_id: objectId, sequence };

const COMMON = {
  id: { type: 'string', pattern: '^[0-9a-f]{32}$', description: 'The same in each repetition of the event' },
  version: { const: 1 },
  account_id: int64,
  at_ms: { ...count, description: 'Unix milliseconds' },
  by: {
    type: 'string',
    description:
      'The id of an app key, or `operator` followed by who the operator is. If a record of the feed or of an import is the cause: `record`, followed by `: ` and who it says it was. Of an end by silence: `service`',
  },
};
const REQUEST = {
  request_id: {
    type: 'string',
    description: "The request_id of the call; of an operator's merge or undo, a random id",
  },
};
const COMMAND = { command: { type: 'string', description: "The operator's command, such as `app-key issue`" } };

interface EventDescription {
  description: string;
  /** The property that says what caused the event: a call or an operator's command. */
  cause: object;
  required: Readonly<Record<string, object>>;
  optional?: Readonly<Record<string, object>>;
  sample: object;
}

const [INCIDENT, ALERT] = ['64f000000000000000000001', '64f0000000000000000000a1'];
const KEY = '1f3a77c0d2b4e6f8';
const REQUEST_ID = '838b5bd5-5770-4d69-840e-c98df434687b';
const call = { by: KEY, request_id: REQUEST_ID };
const operator = (command: string) => ({ by: 'operator arn:aws:sts::123456789012:assumed-role/Operator/ada', command });
const merge = { incident_id: INCIDENT, sequence: 1_795_000_000_000 };

const workItem = { work_item_id: { type: 'string' }, work_item_version: { ...int64, minimum: 1 } };
const commandEvent = (
  description: string,
  command: string,
  required: EventDescription['required'] = {},
  sample = {},
): EventDescription => ({ description, cause: COMMAND, required, sample: { ...operator(command), ...sample } });
const appKeyEvent = (description: string, command: string) =>
  commandEvent(description, command, { app_key_id: appKeyId }, { app_key_id: KEY });

const unixSeconds = { ...count, description: 'Unix seconds' };
const alertEvent = (description: string, sample: object, commands = ['record']): EventDescription => ({
  description,
  cause: { command: { enum: commands, description: '`record`: a record of the feed or of an import' } },
  required: {
    alert_id: objectId,
    alert_key: { type: 'string', description: 'What the sender watches' },
    title: { type: 'string' },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    annotations: { type: 'object', additionalProperties: { type: 'string' } },
    start_time: unixSeconds,
    end_time: { ...count, description: 'Unix seconds; 0 while the alert is open' },
  },
  optional: {
    alert_severity: { enum: SEVERITIES },
    incident_id: objectId,
    reason: { const: 'silent', description: 'It ended since no record came for long, and not by one' },
    labels_cut: {
      const: true,
      description: 'Labels or annotations are left out that would make the event larger than 64 KB',
    },
  },
  sample: {
    by: 'record',
    command: 'record',
    alert_id: ALERT,
    alert_key: 'alertmanager 9a1c0f3f6ed1c1a4',
    title: 'Disk 7 is full',
    labels: { alertname: 'DiskFull', instance: 'db-7' },
    annotations: { runbook_url: 'https://example.com/runbooks/disk-full' },
    start_time: 1_795_000_000,
    ...sample,
  },
});

const EVENTS: Readonly<Record<string, EventDescription>> = {
  AlertsMerged: {
    description:
      'Alerts were merged into an incident. A large merge is committed first, and moves its alerts afterwards.',
    cause: REQUEST,
    required: {
      ...historyEntry,
      alerts: {
        ...count,
        description:
          'How many alerts moved; if the merge is not complete, how many it will move, unless other merges have moved some meanwhile',
      },
      alert_ids: { type: 'array', items: objectId, maxItems: 100, description: 'The first 100 of these' },
      complete: { type: 'boolean', description: 'false: a large merge, which MergeCompleted follows' },
    },
    optional: {
      comment: { type: 'string' },
      title: { type: 'string', description: "The incident's new title" },
      owner_id: { ...int64, description: "The incident's new owner" },
    },
    sample: { ...call, ...merge, alerts: 1, alert_ids: [ALERT], comment: 'same cause', complete: true },
  },
  MergeCompleted: {
    description: 'All alerts of a large merge have moved, but for those that a later merge took.',
    cause: REQUEST,
    required: { ...historyEntry, alerts: { ...count, description: 'How many alerts moved' } },
    sample: { ...call, ...merge, alerts: 5_000 },
  },
  // Only operators undo merges. The cause is a request_id, since the history entry stores that and no command.
  MergeUndone: {
    description: 'A merge was undone: alerts went back to where it took them from.',
    cause: REQUEST,
    required: {
      ...historyEntry,
      undone_sequence: { ...count, description: 'The sequence of the merge that was undone' },
      alerts: { ...count, description: 'How many alerts go back' },
    },
    sample: {
      by: operator('').by,
      request_id: REQUEST_ID,
      ...merge,
      sequence: merge.sequence + 60_000,
      undone_sequence: merge.sequence,
      alerts: 1,
    },
  },
  AlertTriggered: alertEvent('An alert key has an open alert.', {
    alert_severity: 'Critical',
    incident_id: INCIDENT,
    end_time: 0,
  }),
  AlertResolved: alertEvent(
    'The alert of an alert key has ended. One whose end is all that was told has no severity, and no AlertTriggered.',
    { alert_severity: 'Critical', end_time: 1_795_000_060 },
    ['record', 'end-silent-alerts'],
  ),
  WorkItemDeleted: {
    description: 'A work item was deleted: by a call, or by a record of the feed or of an import.',
    cause: {},
    required: workItem,
    optional: { ...REQUEST, command: { const: 'record', description: 'In place of a call: a record' } },
    sample: { ...call, work_item_id: 'wi-1001', work_item_version: 2 },
  },
  WorkItemRestored: commandEvent("A work item's deletion was undone.", 'work-item restore', workItem, {
    work_item_id: 'wi-1001',
    work_item_version: 3,
  }),
  AccountErased: commandEvent('The account is erased. Erase what you keep of it, too.', 'account erase'),
  AccountSuspended: commandEvent('All calls of the account are refused from now on.', 'account suspend'),
  AccountUnsuspended: commandEvent("The account's suspension was lifted.", 'account unsuspend'),
  AppKeyIssued: appKeyEvent('The account has a new app key.', 'app-key issue'),
  AppKeyRevoked: appKeyEvent('An app key is refused from now on.', 'app-key revoke'),
};

export const eventSamples = () =>
  Object.entries(EVENTS).map(([type, { sample }], index) => ({
    type,
    detail: { id: String(index).padStart(32, '0'), version: 1, account_id: 42, at_ms: merge.sequence, ...sample },
  }));

export const eventsSchema = () => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $id: 'events.schema.json',
  title: 'Events of the service, as EventBridge gives them to the targets of rules',
  type: 'object',
  required: ['source', 'detail-type', 'detail'],
  properties: { source: { const: SERVICE } },
  oneOf: Object.keys(EVENTS).map((type) => ({
    properties: { 'detail-type': { const: type }, detail: { $ref: `#/$defs/${type}` } },
  })),
  $defs: Object.fromEntries(
    Object.entries(EVENTS).map(([type, { description, cause, required, optional = {} }], index) => {
      const always = { ...COMMON, ...cause, ...required };
      return [
        type,
        {
          description,
          type: 'object',
          required: Object.keys(always),
          properties: { ...always, ...optional },
          examples: [eventSamples()[index]?.detail],
        },
      ];
    }),
  ),
});

export const eventsText = () => `${JSON.stringify(eventsSchema(), undefined, 2)}\n`;
