/** The bodies that may cost the most, each at its largest size or with the most values that a body may have. */
import { BODY_BOUNDS } from '../../../lib/http/body.ts';
import { operationIdOf, operations } from '../../../lib/operations/index.ts';

/** A body of at most this many bytes. */
type BodyOf = (bytes: number) => string;

/** Leaves some of the values to what is around the repetitions. */
const MAX_VALUES = BODY_BOUNDS.values - 1_000;
const valuesIn = (text: string) => 1 + (text.match(/,|[{[](?![}\]])/g)?.length ?? 0);

/** As many repetitions, separated by commas, as fit between `start` and `end`. */
const filled =
  (
    start: string,
    unit: string | ((index: number) => string),
    end: string,
    { most = Number.POSITIVE_INFINITY, maxValues = MAX_VALUES } = {},
  ): BodyOf =>
  (bytes) => {
    const units: string[] = [];
    let left = bytes - Buffer.byteLength(start + end);
    let values = 0;
    for (let index = 0; index < most; index += 1) {
      const text = typeof unit === 'string' ? unit : unit(index);
      left -= Buffer.byteLength(text) + 1;
      values += valuesIn(text);
      if (left < -1 || values > maxValues) break;
      units.push(text);
    }
    return `${start}${units.join(',')}${end}`;
  };

/** Records, each as large as they may be, by default. */
const recordsOf = (start: string, unit: string | ((index: number) => string), end: string, bytes = 8_192): BodyOf =>
  filled('{"records":[', filled(start, unit, end)(bytes), ']}');

/** One unit repeated without separators, to the last byte. */
const repeated =
  (start: string, unit: string, end: string): BodyOf =>
  (bytes) =>
    start + unit.repeat((bytes - Buffer.byteLength(start + end)) / Buffer.byteLength(unit)) + end;

/** A notification of as many alerts as it may have. */
const alertsOf = (unit: string | ((index: number) => string), end = ']}') =>
  filled('{"alerts":[', unit, end, { most: 25_000 });
const STARTED = '"startsAt":"2026-11-20T08:30:00Z"';

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const ITEM = '{"kind":"work_item","work_item_id":"w","version":1,"title":"t",';
const EMPTY = '{}';
const ESCAPE = '\\u0001';

/** Bodies whose shape no operation expects. They are sent to each of them. */
const ANY: Readonly<Record<string, BodyOf>> = {
  'open brackets': repeated('', '[', ''),
  'lists of 990 levels': filled('{"x":[', nested(990), ']}'),
  'more empty objects than values may be': filled('{"x":[', EMPTY, ']}', { maxValues: Number.POSITIVE_INFINITY }),
  'empty objects': filled('{"x":[', EMPTY, ']}'),
  'empty objects, then __proto__': filled('{"x":[', EMPTY, '],"__proto__":1}'),
  'empty objects, then a syntax error': filled('{"x":[', EMPTY, '],}'),
  'integers of one digit': filled('{"x":[', '0', ']}'),
  'numbers 1e18': filled('{"x":[', '1e18', ']}'),
  'fractions that a double rounds': filled('{"x":[', '4503599627370497.5', ']}'),
  'a number of one digit, repeated': repeated('{"x":', '9', '}'),
  'a number with an exponent': repeated('{"x":1', '0', 'e-99}'),
  'empty texts': filled('{"x":[', '""', ']}'),
  'a text of escapes': repeated('{"x":"', ESCAPE, '"}'),
  'a text that does not end': repeated('{"x":"', 'x', ''),
  'a text of escapes that does not end': repeated('{"x":"', ESCAPE, ''),
  'names, each another': filled('{', (index) => `"${index.toString(36)}":0`, '}'),
  'names that are numbers': filled('{', (index) => `"${index * 65_537}":0`, '}'),
  'one name, repeated': filled('{', '"x":0', '}'),
  'line ends, then a syntax error': repeated('{', '\n', '!'),
  commas: repeated('[', ',', ''),
  'a list': filled('[', EMPTY, ']'),
};

/** Bodies for the lists and texts of single operations. */
const OWN: Readonly<Record<string, Readonly<Record<string, BodyOf>>>> = {
  browseFleet: {
    'statuses that are numbers': filled('{"statuses":[', '0', ']}'),
    'statuses with half a surrogate pair': filled('{"agent_versions":[', '"\\ud800"', ']}'),
    'a cursor': repeated('{"cursor":"', 'A', '"}'),
  },
  deleteWorkItem: { 'a work_item_id': repeated('{"version":1,"work_item_id":"', '😀', '"}') },
  mergeAlerts: {
    'alert_ids that are numbers': filled('{"alert_ids":[', '0', ']}'),
    'alert_ids that are empty': filled('{"alert_ids":[', '""', ']}'),
    'alert_ids that do not exist': filled(
      `{"incident_id":"${'f'.repeat(24)}","alert_ids":[`,
      (index) => `"${index.toString(16).padStart(24, '0')}"`,
      ']}',
    ),
    'a comment': repeated('{"comment":"', '😀', '"}'),
  },
  sendRecords: {
    'records that are numbers': filled('{"records":[', '0', ']}'),
    '1,000 records that are empty': filled('{"records":[', EMPTY, ']}', { most: 1_000 }),
    alerts: filled('{"records":[', (index) => `{"kind":"alert","alert_key":"${index}","title":"t"}`, ']}', {
      most: 1_000,
    }),
    'work items with short names': recordsOf(ITEM, (index) => `"n${index.toString(36)}":0`, '}'),
    'work items of numbers 1e18': recordsOf(`${ITEM}"x":[`, '1e18', ']}'),
    'work items of numbers 1e18, which are too large': recordsOf(`${ITEM}"x":[`, '1e18', ']}', 60_000),
    'alerts with unknown fields': recordsOf('{"kind":"alert",', (index) => `"${index.toString(36)}":0`, '}'),
    'work items with names that cannot be stored': recordsOf('{"kind":"work_item","x":[', '{"":0}', ']}'),
    'half surrogate pairs': recordsOf('{"kind":"work_item","x":[', '"\\ud800"', ']}'),
  },
  sendNotification: {
    'alerts that are numbers': filled('{"alerts":[', '0', ']}'),
    '25,000 alerts that are numbers': alertsOf('0'),
    '25,000 alerts that are empty': alertsOf(EMPTY),
    'alerts as small as can be': alertsOf(`{${STARTED},"labels":{"a":0}}`),
    'alerts of the usual size': alertsOf((index) =>
      JSON.stringify({
        status: 'firing',
        labels: Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`label_${at}`, `value ${at} of ${index}`])),
        annotations: { summary: `Disk ${index} is full`, description: 'd'.repeat(300), runbook_url: 'u'.repeat(100) },
        startsAt: '2026-11-20T08:30:00.125Z',
        endsAt: '0001-01-01T00:00:00Z',
        generatorURL: 'u'.repeat(200),
        fingerprint: index.toString(16).padStart(16, '0'),
      }),
    ),
    'a label of 990 levels': filled(`{"alerts":[{${STARTED},"labels":{"a":[`, nested(985), ']}}]}'),
    'a text in a label of 985 levels': repeated(
      `{"alerts":[{${STARTED},"labels":{"a":${'['.repeat(985)}"`,
      'x',
      `"${',0]'.repeat(985)}}}]}`,
    ),
    'an alert of numbers 1e18': filled('{"alerts":[{"x":[', '1e18', ']}]}'),
    'alerts of numbers 1e18': alertsOf(`[${Array(30).fill('1e18').join()}]`),
    'an alert with labels': filled(
      `{"alerts":[{${STARTED},"labels":{`,
      (index) => `"label ${((index * 7_919) % 200_003).toString(36)}":1e18`,
      '}}]}',
    ),
    'alerts with labels': alertsOf(`{${STARTED},"labels":{"b":1e18,"a":1e18,"d":"","c":true}}`),
    'alerts with labels, then __proto__': alertsOf(
      `{${STARTED},"labels":{"b":1,"a":2,"d":"","c":true}}`,
      '],"__proto__":0}',
    ),
    'an alert with a long label': repeated(`{"alerts":[{${STARTED},"labels":{"a":"`, '😀', '"}}]}'),
    'alerts that are cut': filled(
      '{"alerts":[',
      `{${STARTED},"labels":{"a":0},"annotations":{"description":"${'\ufffe'.repeat(1_500)}"}}`,
      ']}',
    ),
    'an alert of characters that SQS refuses': repeated('{"alerts":[{"x":"', '\ufffe', '"}]}'),
    'an alert of half surrogate pairs': repeated('{"alerts":[{"x":"', '\\ud800', '"}]}'),
    'alerts with a blank summary': alertsOf(`{${STARTED},"annotations":{"summary":"${' '.repeat(100)}"}}`),
    'a time that is long': repeated('{"alerts":[{"labels":{"a":0},"startsAt":"2026-11-20T08:30:00.', '1', 'Z"}]}'),
  },
};

/** Each operation, with the shapes of its bodies by their names. */
export const SHAPES = operations.map((operation) => ({
  operation,
  shapes: { ...ANY, ...OWN[operationIdOf(operation.name)] },
}));
