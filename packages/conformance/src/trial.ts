/**
 * The calls that show one sentence of the contract: sent, checked against openapi.json and the contract, and recorded for the certificate.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson, stringifyJson } from '../../../lib/shared/json.ts';
import { CliError } from '../../admin/cli/io.ts';
import { type Answer, validate } from './answers.ts';
import type { Caller } from './callers.ts';
import type { Lab } from './lab.ts';
import { Broken, Skipped } from './outcome.ts';

export const FLEET = '/monit/servicemap/fleet';
export const RUM = '/rum/resource/info';
export const DELETE_PATH = '/incident/work-item/delete';
export const MERGE = '/alert/merge';
export const PATHS = [FLEET, RUM, DELETE_PATH, MERGE];

export interface CallOptions {
  method?: string;
  /** Who calls; null: nobody. */
  as?: Caller | null;
  /** A raw body, in place of one that is written as JSON. */
  raw?: string | Uint8Array;
  headers?: Record<string, string>;
  /** Base URL of another service than the certified one. */
  url?: string;
  /** Returns the first answer, whatever it is. Without it, 429 and up to two 503 are retried after `Retry-After`. */
  noRetry?: boolean;
}

const MAX_WAIT_SECONDS = 60;
/** Retries of 503: a service that was idle may answer it at first. */
const MAX_503_RETRIES = 2;
const SHOWN_BODY = 90;

export type FleetAnswer = Answer & { readonly caller: Caller };

/** Fleet pages that several sentences look at, by the bodies that asked for them. */
export type Pages = Map<string, Promise<FleetAnswer>>;

/** API Gateway answers within 29 s: a service that has not by then does not answer. */
const MAX_CALL_MS = 30_000;

/** @param longestCallMs for a call and its whole answer */
export function createTrial(lab: Lab, pages: Pages, longestCallMs = MAX_CALL_MS) {
  const lines: string[] = [];
  let sent = 0;

  async function send(path: string, body: unknown, options: CallOptions): Promise<Answer> {
    const { method = 'POST', as = lab.main, raw, headers = {}, url = lab.url } = options;
    const address = new URL(`${url}${path}`);
    if (as) address.searchParams.set('app_key', as.appKey);
    const payload = method === 'POST' ? { body: raw ?? stringifyJson(body) } : {};
    sent += 1;
    const noAnswer = () => {
      throw new CliError(`No answer from ${address.origin}: check --url.`);
    };
    const response = await fetch(address, {
      method,
      headers: { 'Content-Type': 'application/json', ...headers },
      ...payload,
      signal: AbortSignal.timeout(longestCallMs),
    }).catch(noAnswer);
    const text = await response.text().catch(noAnswer);
    lines.push(`${lineOf(path, body, options)} → ${response.status}`);
    const answer = { status: response.status, headers: response.headers, body: bodyOf(text, response.status) };
    if (as) lab.turns.note(as, response.headers);
    validate(method, path, answer);
    return answer;
  }

  async function call(path: string, body: unknown = {}, options: CallOptions = {}): Promise<Answer> {
    for (let unavailable = 0; ; ) {
      const answer = await send(path, body, options);
      const { status, headers } = answer;
      if (!lab.entities && path === FLEET && status === 403 && (options.as ?? lab.main) === lab.main)
        throw new Skipped('the account lacks the permission monit');
      if (status === 503) unavailable += 1;
      if (options.noRetry || (status !== 429 && status !== 503) || unavailable > MAX_503_RETRIES) return answer;
      const seconds = Number(headers.get('retry-after'));
      if (!(seconds >= 1 && seconds <= MAX_WAIT_SECONDS))
        throw new Broken(`Retry-After of ${status}: expected 1 to 60 seconds, got ${headers.get('retry-after')}`);
      await sleep(seconds * 1_000);
    }
  }

  /** Browses the fleet as the next caller with quota, or as the caller of a cursor. */
  const fleet = (body: object = {}, options: CallOptions = {}): Promise<FleetAnswer> =>
    lab.turns.take(options.as ?? undefined, async (caller) => {
      const answer = await call(FLEET, body, { ...options, as: caller });
      return { ...answer, caller };
    });

  async function rum(body: object = {}, options: CallOptions = {}): Promise<Answer> {
    const answer = await call(RUM, body, options);
    if (!lab.entities && answer.body.error?.code === 'ResourceNotFound')
      throw new Skipped('the account has no RUM resource record');
    return answer;
  }

  /** Like `fleet`, but cached for all sentences that send the same request, since the fleet's limit is low. */
  async function page(body: object = {}): Promise<FleetAnswer> {
    const name = stringifyJson(body);
    const known = pages.get(name);
    const asked = known ?? fleet(body);
    pages.set(name, asked);
    const answer = await asked;
    if (known) lines.push(`${lineOf(FLEET, body, {})} → ${answer.status} (the answer to an earlier call)`);
    return answer;
  }

  return {
    lab,
    lines: lines as readonly string[],
    /** Number of calls so far. */
    sent: () => sent,
    call,
    fleet,
    page,
    rum,
    remove: (body: object, options?: CallOptions) => call(DELETE_PATH, body, options),
    merge: (body: object, options?: CallOptions) => call(MERGE, body, options),
    /** A request of any form, whose answer is not checked. */
    async fetch(path: string, init: RequestInit = {}): Promise<Response> {
      sent += 1;
      const response = await fetch(`${lab.url}${path}`, { signal: AbortSignal.timeout(longestCallMs), ...init });
      lines.push(`${init.method ?? 'GET'} ${path.replace(/\?.*/, '')} → ${response.status}`);
      return response;
    },
    /** A part of the lab that the sentence requires. @throws Skipped */
    need<Name extends keyof Lab>(name: Name): NonNullable<Lab[Name]> {
      const value = lab[name];
      if (value === undefined) throw new Skipped(NEEDED[name] ?? name);
      return value as NonNullable<Lab[Name]>;
    },
  };
}

export type Trial = ReturnType<typeof createTrial>;

/** Calls each operation once, so that no sentence waits for a function's first start. */
export async function warmUp(lab: Lab): Promise<void> {
  const trial = createTrial(lab, new Map());
  for (const path of PATHS) await trial.call(path, {});
}

const NEEDED: Readonly<Partial<Record<keyof Lab, string>>> = {
  entities: 'needs the data set of a run',
  otherAccount: 'needs OTHER_APP_KEY, of an account without the permission',
  expired: 'needs EXPIRED_APP_KEY',
  spare: 'would use up the quota of the account',
  changing: 'needs to change the stored record: shown by `npm run certify` without --url',
  stored: 'what is stored cannot be read over HTTP: shown by `npm run certify` without --url',
  impaired: 'needs a service that fails (`npm start -- --fail`): shown by `npm run certify` without --url',
};

function lineOf(path: string, body: unknown, { method = 'POST', as, raw, headers }: CallOptions): string {
  const text =
    raw === undefined ? stringifyJson(body) : `(${raw.length} ${typeof raw === 'string' ? 'characters' : 'bytes'})`;
  const notes = [
    ...(as === null ? ['no app_key'] : []),
    ...Object.entries(headers ?? {}).map((pair) => pair.join(': ')),
  ];
  const shownBody = text.length > SHOWN_BODY ? `${text.slice(0, SHOWN_BODY)}…` : text;
  return [
    method,
    path,
    ...(method === 'POST' ? [shownBody] : []),
    ...(notes.length > 0 ? [`[${notes.join(', ')}]`] : []),
  ].join(' ');
}

function bodyOf(text: string, status: number): Answer['body'] {
  try {
    return parseJson(text);
  } catch {
    throw new Broken(`the answer with status ${status} is not JSON`);
  }
}
