/** A client of the API for the check of one requirement. It validates every answer, and records its calls for the report. */
import { expect } from 'vitest';
import { parseJson, stringifyJson } from '../../../lib/shared/json.ts';
import { CliError } from '../../admin/cli/io.ts';
import type { Answer, Validate } from './answers.ts';
import type { OperationContract } from './contract.ts';
import { type Environment, NEEDS, Skipped } from './environment.ts';

export const FLEET = '/monit/servicemap/fleet';
export const RUM = '/rum/resource/info';
export const DELETE = '/incident/work-item/delete';
export const MERGE = '/alert/merge';

/** The operations of the contract, and the check of an answer against it. */
export interface Contract {
  readonly operations: readonly OperationContract[];
  readonly validate: Validate;
}

export interface CallOptions {
  method?: string;
  /** The app key of the caller; null: a call without one. */
  as?: string | null;
  /** The body as it is sent, in place of one that the client writes as JSON. */
  raw?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
  /** Base URL of a service other than the certified one. */
  url?: string;
  /** Statuses after which a call is made again, when `Retry-After` says; default: 429, and 503 up to twice. */
  retried?: readonly number[];
}

/** Pages of the fleet that several checks share, by request body. */
export type Pages = Map<string, Promise<Answer>>;

/** API Gateway gives up after 29 s, so no answer can come later. */
const TIMEOUT_MS = 30_000;
/** A service that was idle may answer 503 at first. */
const MAX_503_RETRIES = 2;
const MAX_WAIT_SECONDS = 60;
/** Maximum characters of a body that the report shows. */
const MAX_BODY_CHARS = 90;

interface Request {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
}

/** A request in the report of a failed check. */
function lineOf({ pathname, searchParams }: URL, { method = 'GET', headers = {}, body = '' }: Request): string {
  const text = typeof body === 'string' ? body : `(${body.length} bytes)`;
  const notes = [
    ...(searchParams.has('app_key') ? [] : ['no app_key']),
    ...Object.entries(headers).flatMap(([name, value]) => (value === 'application/json' ? [] : [`${name}: ${value}`])),
  ];
  const line = `${method} ${pathname} ${text.length > MAX_BODY_CHARS ? `${text.slice(0, MAX_BODY_CHARS)}…` : text}`;
  return notes.length > 0 ? `${line} [${notes.join(', ')}]` : line;
}

function jsonOf(text: string, status: number): unknown {
  try {
    return parseJson(text);
  } catch {
    return expect.fail(`the answer with status ${status} is not JSON`);
  }
}

export type ApiClient = ReturnType<typeof createApiClient>;

/** @param timeoutMs for a whole answer */
export function createApiClient(
  environment: Environment,
  { operations, validate }: Contract,
  pages: Pages = new Map(),
  timeoutMs = TIMEOUT_MS,
) {
  const permissions = new Map(operations.map(({ path, permission }) => [path, permission]));
  const calls: string[] = [];
  let sent = 0;

  /** Sends any request; the answer is not validated. @throws CliError when the service does not answer */
  async function request(path: string, init: Request = {}, url = environment.url) {
    const address = new URL(`${url}${path}`);
    const line = lineOf(address, init);
    sent += 1;
    try {
      const response = await fetch(address, { ...init, signal: AbortSignal.timeout(timeoutMs) });
      const text = await response.text();
      calls.push(`${line} → ${response.status}`);
      return { status: response.status, headers: response.headers, text };
    } catch {
      calls.push(`${line} → no answer`);
      throw new CliError(`No answer from ${address.origin}: check --url.`);
    }
  }

  async function send(path: string, body: unknown, { method = 'POST', as, raw, headers, url }: CallOptions) {
    const appKey = as === undefined ? environment.appKey : as;
    const init = {
      method,
      headers: { 'Content-Type': 'application/json', ...headers },
      ...(method === 'POST' && { body: raw ?? stringifyJson(body) }),
    };
    const query = appKey === null ? '' : `?app_key=${encodeURIComponent(appKey)}`;
    const { text, ...answer } = await request(`${path}${query}`, init, url);
    const validated: Answer = { ...answer, body: jsonOf(text, answer.status) };
    validate(method, path, validated);
    return validated;
  }

  async function call(path: string, body: unknown = {}, options: CallOptions = {}): Promise<Answer> {
    const isCertifiedAccount = options.as === undefined || options.as === environment.appKey;
    const { retried = [429, 503] } = options;
    let answers503 = 0;
    for (;;) {
      const answer = await send(path, body, options);
      const permission = permissions.get(path);
      if (permission !== undefined && isCertifiedAccount && answer.status === 403 && !environment.dataSet)
        throw new Skipped(`the account lacks the permission ${permission}`);
      if (answer.status === 503) answers503 += 1;
      if (!retried.includes(answer.status) || answers503 > MAX_503_RETRIES) return answer;
      const seconds = Number(answer.headers.get('retry-after'));
      expect(seconds, `Retry-After of ${answer.status}`).toBeGreaterThanOrEqual(1);
      expect(seconds, `Retry-After of ${answer.status}`).toBeLessThanOrEqual(MAX_WAIT_SECONDS);
      await environment.wait(seconds * 1_000);
    }
  }

  const fleet = (body: object = {}, options?: CallOptions) => call(FLEET, body, options);

  return {
    environment,
    operations,
    /** The calls of the check and their statuses, for its report. */
    calls: calls as readonly string[],
    sent: () => sent,
    request,
    call,
    fleet,
    /** Like `fleet`, but one answer serves all checks with the same request, since the fleet's rate limit is low. */
    page(body: object = {}): Promise<Answer> {
      const request = stringifyJson(body);
      const earlier = pages.get(request);
      if (earlier) calls.push(`POST ${FLEET} ${request} (the answer to an earlier call)`);
      const page = earlier ?? fleet(body);
      pages.set(request, page);
      return page;
    },
    async rum(body: object = {}, options: CallOptions = {}): Promise<Answer> {
      const answer = await call(RUM, body, options);
      if (!environment.dataSet && answer.body.error?.code === 'ResourceNotFound')
        throw new Skipped('the account has no RUM resource record');
      return answer;
    },
    remove: (body: object, options?: CallOptions) => call(DELETE, body, options),
    merge: (body: object, options?: CallOptions) => call(MERGE, body, options),
    /** Returns what the check requires of the environment. @throws Skipped if the environment lacks it */
    need<Name extends keyof typeof NEEDS>(name: Name): NonNullable<Environment[Name]> {
      const value = environment[name];
      if (value === undefined) throw new Skipped(NEEDS[name]);
      return value;
    },
  };
}
