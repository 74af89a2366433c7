/** The examples of openapi.json, made from the sample data. `description.test.ts` runs those of success, except `next_cursor`. */
import { codeOf, ERROR_CODES, type ErrorCode } from '../../lib/http/errors.ts';
import { catalog as en } from '../../lib/http/messages/en.ts';
import { messageOf } from '../../lib/http/messages/index.ts';
import type { Operation } from '../../lib/http/operation.ts';
import { fleetHost, type HostRow, type HostStatusRow } from '../../lib/operations/browse-fleet/host.ts';
import { getRumResource } from '../../lib/operations/get-rum-resource/schema.ts';
import type { OperationName } from '../../lib/operations/index.ts';
import { SETTINGS } from '../../lib/shared/settings.ts';
import { sampleData } from '../../packages/local/sample.ts';

export const REQUEST_ID = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

/** The time of the answers and of the sample data, in Unix milliseconds. */
const NOW = 1_795_231_227_854;
const SHOWN_HOST = 'fra-1-cache-0216';
const sample = sampleData(NOW).map((line): Record<string, unknown> => JSON.parse(line));
const sampleRow = (kind: string, hostId?: string) =>
  sample.find((row) => row.kind === kind && row.account_id === 1 && (hostId === undefined || row.host_id === hostId));
const rum = { ...sampleRow('rum_resource'), ...sampleRow('rum_usage') };

/** The `data` of examples whose rows come from the sample; the rest is written by hand. */
const COMPUTED: Partial<Record<OperationName, unknown>> = {
  'browse-fleet': {
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
  'get-rum-resource': Object.fromEntries(
    Object.keys(getRumResource.response.properties).map((field) => [field, rum[field]]),
  ),
};

/** The `data` of the answer in an operation's example. */
export const exampleData = ({ name, example }: Operation): unknown => COMPUTED[name as OperationName] ?? example.data;

/** A case in which a call fails, and the message of the response. */
interface ErrorExample {
  readonly summary: string;
  readonly message: string;
}

/** Errors that every operation can answer. */
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
    message: en.explain.bodyTooLarge({ maxBytes: SETTINGS.maxBodyBytes.default }),
  },
  RequestTooFrequently: {
    summary: 'More calls than the usage plan of the account allows',
    message: en.codes.RequestTooFrequently,
  },
  InternalError: { summary: 'A defect of the service', message: en.codes.InternalError },
  ServiceUnavailable: { summary: 'DynamoDB does not answer', message: en.codes.ServiceUnavailable },
} as const satisfies Partial<Record<ErrorCode, ErrorExample>>;

/** An example of each error code that an operation can answer, in the order of `ERROR_CODES`: of its refusals with the same code the last. */
export function errorExamples({ refusals }: Operation): [code: ErrorCode, example: ErrorExample][] {
  const examples: Partial<Record<ErrorCode, ErrorExample>> = { ...COMMON_EXAMPLES };
  for (const { summary, explanation } of refusals) {
    const code = codeOf(explanation.name);
    examples[code] = { summary, message: messageOf(en, { code, explanation }) };
  }
  return (Object.keys(ERROR_CODES) as ErrorCode[]).flatMap((code) => {
    const example = examples[code];
    return example ? [[code, example]] : [];
  });
}
