/** The examples of errors in openapi.json. Those of success are in the operations' schemas. */
import { codeOf, detailsOf, ERROR_CODES, type ErrorCode, type Explanation, messageOf } from '../../lib/http/errors.ts';
import { catalog as en } from '../../lib/http/messages/en.ts';
import type { Operation } from '../../lib/http/operation.ts';
import { itemBudget } from '../../lib/http/rate-limit.ts';
import { SETTINGS, settingValues } from '../../lib/shared/settings.ts';
import { CODING_MESSAGE } from '../coding-message.ts';

export const REQUEST_ID = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

export const defaultSettings = settingValues(
  () => undefined,
  () => undefined,
);

interface ErrorExample {
  readonly summary: string;
  readonly message: string;
}

/** Errors that an operation can answer without declaring a refusal. */
function commonExamples(operation: Operation): Partial<Record<ErrorCode, ErrorExample>> {
  const { permission, rateWindows, budgeted, itemTexts } = operation;
  const { maxBodyBytes: maxBytes = SETTINGS.maxBodyBytes.default } = operation;
  const [window] = (budgeted ? itemBudget(defaultSettings).rateWindows : rateWindows) ?? [];
  const quota = window && { limit: window.limit, windowSeconds: window.seconds };
  return {
    InvalidParameter: { summary: 'The body is a JSON array', message: en.explain.bodyNotObject(undefined) },
    InvalidContentType: {
      summary: 'A body is sent as text/plain',
      message: itemTexts === undefined ? en.codes.InvalidContentType : en.explain.contentTypeOfItems(undefined),
    },
    BadRequest: { summary: 'The body has the Content-Encoding br', message: CODING_MESSAGE },
    Unauthorized: { summary: 'The app_key is unknown', message: en.codes.Unauthorized },
    EntityTooLarge: {
      summary: `The body has a byte more than ${maxBytes / 1_024} KiB`,
      message: en.explain.bodyTooLarge({ maxBytes }),
    },
    ...(permission && {
      AccessDenied: {
        summary: `The account lacks the permission ${permission}`,
        message: en.explain.permissionMissing({ permission }),
      },
    }),
    RequestTooFrequently: quota
      ? {
          summary: `More than ${quota.limit.toLocaleString('en')} ${budgeted ? 'records and alerts' : 'calls'} in ${quota.windowSeconds} s`,
          message: en.explain[budgeted ? 'tooManyItems' : 'tooFrequent'](quota),
        }
      : { summary: 'More calls than the usage plan of the account allows', message: en.codes.RequestTooFrequently },
    InternalError: { summary: 'A defect of the service', message: en.codes.InternalError },
    ServiceUnavailable: { summary: 'DynamoDB does not answer', message: en.codes.ServiceUnavailable },
  };
}

/** An example of each error code that an operation can answer, in the order of `ERROR_CODES`. Its refusals replace common examples. */
export function errorExamples(operation: Operation): [code: ErrorCode, example: ErrorExample][] {
  const examples = commonExamples(operation);
  for (const { summary, ...refused } of operation.refusals) {
    const explanation = refused as Explanation;
    // The scripts run before the compiler has checked the schema.
    if (!(explanation.name in en.explain) || !codeOf(explanation.name))
      throw new Error(
        `${operation.name} has the refusal ${explanation.name}: add it to REFUSALS of lib/http/errors.ts and to each catalog of lib/http/messages/`,
      );
    const code = codeOf(explanation.name);
    examples[code] = { summary, message: messageOf(en, { code, explanation }), ...detailsOf({ explanation }) };
  }
  return (Object.keys(ERROR_CODES) as ErrorCode[]).flatMap((code) => {
    const example = examples[code];
    return example ? [[code, example]] : [];
  });
}
