/** The examples of errors in openapi.json. Those of success are in the operations' schemas. */
import { codeOf, ERROR_CODES, type ErrorCode, messageOf } from '../../lib/http/errors.ts';
import { catalog as en } from '../../lib/http/messages/en.ts';
import type { Operation } from '../../lib/http/operation.ts';
import { SETTINGS } from '../../lib/shared/settings.ts';
import { CODING_MESSAGE } from '../coding-message.ts';

export const REQUEST_ID = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

/** A case in which a call fails, and the message of the response. */
interface ErrorExample {
  readonly summary: string;
  readonly message: string;
}

/** Errors that every operation can answer. */
function commonExamples({ itemTexts, maxBodyBytes: maxBytes = SETTINGS.maxBodyBytes.default }: Operation) {
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
    RequestTooFrequently: {
      summary: 'More calls than the usage plan of the account allows',
      message: en.codes.RequestTooFrequently,
    },
    InternalError: { summary: 'A defect of the service', message: en.codes.InternalError },
    ServiceUnavailable: { summary: 'DynamoDB does not answer', message: en.codes.ServiceUnavailable },
  } as const satisfies Partial<Record<ErrorCode, ErrorExample>>;
}

/** An example of each error code that an operation can answer, in the order of `ERROR_CODES`: of its refusals with the same code the last. */
export function errorExamples(operation: Operation): [code: ErrorCode, example: ErrorExample][] {
  const examples: Partial<Record<ErrorCode, ErrorExample>> = commonExamples(operation);
  for (const { summary, explanation } of operation.refusals) {
    const code = codeOf(explanation.name);
    if (!code || !en.explain[explanation.name])
      throw new Error(
        `${operation.name}: list the refusal ${explanation.name} in lib/http/errors.ts and lib/http/messages/`,
      );
    examples[code] = { summary, message: messageOf(en, { code, explanation }) };
  }
  return (Object.keys(ERROR_CODES) as ErrorCode[]).flatMap((code) => {
    const example = examples[code];
    return example ? [[code, example]] : [];
  });
}
