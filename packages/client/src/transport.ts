/** Sends one call, with retries. */
import {
  AnswerTooLargeError,
  ApiError,
  type CallTarget,
  ConnectionError,
  InexactNumberError,
  ServiceError,
  serviceError,
  TimeoutError,
  UnexpectedAnswerError,
} from './client-errors.ts';
import { bigintField, jsonText, parseJson, roundedField } from './json.ts';
import type { CallOptions, ClientEvent, ClientOptions, WaitEvent } from './options.ts';
import type { RefusedItem } from './types.ts';

/** A success, with its headers. */
export interface Answer {
  readonly data: unknown;
  readonly headers: Headers;
}

export interface Transport {
  /** @param request or its JSON text, which is sent as it is */
  send(path: string, request: object | string, options?: CallOptions, idempotencyKey?: string): Promise<Answer>;
  /** Calls `onEvent`, then waits. @throws the signal's reason when it aborts */
  wait(event: WaitEvent, signal: AbortSignal | undefined): Promise<void>;
  now(): number;
}

const FIRST_BACKOFF_MS = 500;
/** With `RETRIES` all waits together take 31 to 63 seconds: a restart or failover is over by then. */
const MAX_BACKOFF_MS = 16_000;
const RETRIES = 8;
/** The shortest wait, also for `Retry-After: 0`. */
const MIN_WAIT_MS = 100;
/** Includes attempts refused with 429, since `Retry-After: 0` must not make a call endless. */
const MAX_ATTEMPTS = 20;
/** A longer timer ends at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Maximum bytes of an answer, decompressed. {@link AnswerTooLargeError} states them, too. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Hosts that are this machine, as `URL` writes them. */
const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Name and version, as in package.json. */
const CLIENT = 'incident-monitoring-rum-client/1.0.0';
/** Browsers keep their own `User-Agent`. */
const isBrowser = 'document' in globalThis || 'importScripts' in globalThis;
const CLIENT_HEADER = { [isBrowser ? 'X-Client' : 'User-Agent']: CLIENT };

/** @throws TypeError when the options cannot work */
export function createTransport(options: ClientOptions): Transport {
  const { appKey, language, onEvent, timeoutMs = 35_000, retries = RETRIES, maxWaitMs = 120_000 } = options;
  const { fetch = globalThis.fetch, now = monotonicMs, sleep = sleepUnlessAborted, retryUnreachable = true } = options;
  let isReached = false;
  const base = baseOf(options.url);
  if (typeof appKey !== 'string' || appKey === '')
    throw new TypeError('appKey is empty: pass the app key of an account, such as process.env.APP_KEY');
  if (/\p{Surrogate}/u.test(appKey)) throw new TypeError('appKey contains half of a surrogate pair');
  if (language !== undefined && !/^[\x20-\x7e]*$/.test(language))
    throw new TypeError('language must be a language tag in ASCII, such as zh-CN');
  if (base.protocol === 'http:' && !LOOPBACK.test(base.hostname))
    console.warn(`The app key is sent to ${base.origin} unencrypted: use https.`);
  const address = (path: string) =>
    `${base.origin}${base.pathname.replace(/\/$/, '')}${path}?app_key=${encodeURIComponent(appKey)}`;
  const encoded = encodeURIComponent(appKey);
  const spellings = [appKey, encoded, encoded.replace(/%../g, (code) => code.toLowerCase())];
  const withoutKey = (text: string) => spellings.reduce((clean, key) => clean.replaceAll(key, '<app_key>'), text);

  const emit = (event: ClientEvent) => {
    try {
      onEvent?.(event);
    } catch {
      // A failing hook must not lose the answer of a call.
    }
  };

  async function wait(event: WaitEvent, signal: AbortSignal | undefined): Promise<void> {
    emit(event);
    await sleep(event.ms, signal);
    signal?.throwIfAborted();
  }

  /** One attempt. @throws ApiError, or the reason of the caller's signal */
  async function attemptOnce(
    target: CallTarget,
    body: string,
    attempt: number,
    callOptions: CallOptions,
  ): Promise<Answer> {
    const { path } = target;
    const { signal, timeoutMs: limitMs = timeoutMs } = callOptions;
    signal?.throwIfAborted();
    const controller = new AbortController();
    const abort = () => controller.abort(signal?.reason);
    signal?.addEventListener('abort', abort);
    let timedOut = false;
    const timer = setTimeout(
      () => {
        timedOut = true;
        controller.abort();
      },
      Math.min(limitMs, MAX_TIMER_MS),
    );
    emit({ type: 'request', path, attempt });
    const began = now();
    try {
      const response = await fetch(address(path), {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          ...CLIENT_HEADER,
          ...(language !== undefined && { 'Accept-Language': language }),
          ...(target.idempotencyKey !== undefined && { 'Idempotency-Key': target.idempotencyKey }),
        },
        body,
        signal: controller.signal,
        // The URL contains the key: send it nowhere else.
        redirect: 'manual',
      });
      isReached = true;
      const outcome = readResponse(response, await readText(response, target), target, withoutKey);
      const requestId = outcome instanceof ServiceError ? outcome.requestId : response.headers.get('Svc-Request-Id');
      const code = outcome instanceof ServiceError && { code: outcome.code };
      emit({
        type: 'response',
        path,
        attempt,
        status: response.status,
        requestId: withoutKey(requestId ?? ''),
        durationMs: now() - began,
        ...code,
      });
      if (outcome instanceof ApiError) throw outcome;
      return outcome;
    } catch (error) {
      if (error instanceof ApiError) throw error;
      if (signal?.aborted) throw signal.reason;
      const failure = timedOut
        ? new TimeoutError(`No answer from ${target.origin}${path} in ${limitMs} ms`, target)
        : noAnswer(error, target);
      emit({ type: 'failure', path, attempt, durationMs: now() - began, message: failure.message });
      throw failure;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }

  function noAnswer(error: unknown, target: CallTarget): ConnectionError {
    const cause = cleanCopy(error, withoutKey);
    const root = rootOf(cause);
    // The error of a host with several addresses has no message.
    const reason = root.message || root.code;
    return new ConnectionError(`No answer from ${target.origin}${target.path}: ${reason}`, target, { cause });
  }

  return {
    now,
    wait,
    async send(path, request, callOptions = {}, idempotencyKey) {
      const target = { path, origin: base.origin, ...(idempotencyKey !== undefined && { idempotencyKey }) };
      const rounded = typeof request === 'string' ? undefined : roundedField(request);
      if (rounded !== undefined) throw new InexactNumberError(rounded, ': pass it as a bigint', target);
      const body = typeof request === 'string' ? request : jsonText(request);
      const began = now();
      let failures = 0;
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await attemptOnce(target, body, attempt, callOptions);
        } catch (error) {
          const reason = reasonToRepeat(error);
          if (reason === undefined || (!retryUnreachable && !isReached && isUnreachable(error))) throw error;
          if (reason !== 'rate-limit') failures += 1;
          const retryAfter = error instanceof ServiceError ? error.retryAfter : undefined;
          const retryAfterMs = (retryAfter ?? 0) * 1_000;
          const leftMs = began + maxWaitMs - now();
          // The back-off is cut to the time left, so that its random part alone does not end the retries.
          const ms = Math.max(MIN_WAIT_MS, retryAfterMs, Math.min(backoffMs(attempt, retryAfterMs), leftMs));
          if (failures > retries || attempt === MAX_ATTEMPTS || ms > leftMs) throw error;
          await wait({ type: 'wait', path, reason, ms }, callOptions.signal);
        }
      }
    },
  };
}

/** Codes of Node's errors when no connection was made, so that nothing was sent. */
const UNREACHABLE = new Set([
  ...['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT'],
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** The error that made `fetch` fail. */
const rootOf = (cause: Error): Error & { code?: unknown } => (cause.cause instanceof Error ? cause.cause : cause);

const isUnreachable = (error: unknown): boolean =>
  error instanceof ConnectionError && error.cause instanceof Error && UNREACHABLE.has(String(rootOf(error.cause).code));

/** Why a failed call is retried; undefined if it is not. Every operation can be retried: merges have an idempotency key. */
function reasonToRepeat(error: unknown): WaitEvent['reason'] | undefined {
  if (error instanceof ConnectionError) return 'no-answer';
  if (!(error instanceof ServiceError || error instanceof UnexpectedAnswerError)) return undefined;
  if (error.status === 429) return 'rate-limit';
  if ([502, 503, 504].includes(error.status)) return 'unavailable';
  // A service that fails sends the envelope. A 500 without it comes from a gateway that could not call the function.
  if (error.status === 500 && error instanceof UnexpectedAnswerError) return 'unavailable';
  return undefined;
}

/**
 * Milliseconds until a retry: they double with each attempt, are at least `retryAfterMs`, and half of them is random, so that callers that
 * were refused together do not retry together.
 */
function backoffMs(attempt: number, retryAfterMs: number): number {
  const half = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (attempt - 1)) / 2;
  return Math.round(Math.max(retryAfterMs, half) + Math.random() * half);
}

/** Unlike the time of day, this clock is never set back. */
const monotonicMs = () => Math.floor(performance.now());

/** @throws AnswerTooLargeError as soon as too much has come: the rest is not read */
async function readText({ body }: Response, target: CallTarget): Promise<string> {
  if (!body) return '';
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const texts: string[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return texts.join('') + decoder.decode();
    bytes += value.length;
    if (bytes > MAX_ANSWER_BYTES) {
      reader.cancel().catch(() => undefined); // the connection may have failed meanwhile
      throw new AnswerTooLargeError(target);
    }
    texts.push(decoder.decode(value, { stream: true }));
  }
}

/** Turns a response into an answer or an error. Each text of an error passes through `clean`. */
function readResponse(
  { status, headers }: Response,
  text: string,
  target: CallTarget,
  clean: (text: string) => string,
): Answer | ApiError {
  const envelope = envelopeOf(text);
  const retryAfter = retryAfterOf(headers);
  if (envelope?.error) {
    const { code, message, refused } = envelope.error;
    const requestId = clean(envelope.request_id);
    const items = refused.map(({ index, reason }) => ({ index, reason: clean(String(reason)) }));
    const told = { code: clean(code), message: clean(message), refused: items };
    return serviceError({ ...told, status, requestId, retryAfter }, target);
  }
  // API Gateway's own refusal of a very large body has no envelope.
  if (status === 413) {
    const requestId = clean(headers.get('x-amzn-requestid') ?? '');
    const message = 'The request body is too large.';
    return serviceError({ code: 'EntityTooLarge', message, status, requestId, retryAfter }, target);
  }
  if (!envelope || status !== 200) return new UnexpectedAnswerError(status, target);
  const field = bigintField(envelope.data);
  if (field !== undefined) return new InexactNumberError(clean(field), '', target);
  return { data: envelope.data, headers };
}

/** The seconds of `Retry-After`, which may be an HTTP date. That is compared with the answer's own `Date`, if it has one. */
function retryAfterOf(headers: Headers): number | undefined {
  const value = headers.get('Retry-After') ?? '';
  const seconds = /^\d+$/.test(value)
    ? Number(value)
    : Math.ceil((Date.parse(value) - (Date.parse(headers.get('Date') ?? '') || Date.now())) / 1_000);
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

interface Envelope {
  request_id: string;
  data?: unknown;
  error?: { code: string; message: string; refused: RefusedItem[] };
}

function envelopeOf(text: string): Envelope | undefined {
  try {
    const { request_id, data, error } = parseJson(text) as Envelope;
    if (typeof request_id !== 'string') return undefined;
    if (error === undefined) return { request_id, data };
    const { code, message } = error;
    const refused = Array.isArray(error.refused) ? error.refused : [];
    return typeof code === 'string' ? { request_id, error: { code, message: String(message), refused } } : undefined;
  } catch {
    return undefined; // not JSON, or not an object
  }
}

/** @throws TypeError whose message omits the URL, which may contain a secret */
function baseOf(url: string): URL {
  const base = URL.canParse(url) ? new URL(url) : undefined;
  if (!base || !/^https?:$/.test(base.protocol) || base.username || base.password || base.search || base.hash)
    throw new TypeError(
      'url must be an http(s) address without user, query and fragment, such as https://example.com/prod',
    );
  return base;
}

/** A copy of an error, each text of which has passed through `clean`. */
function cleanCopy(error: unknown, clean: (text: string) => string): Error {
  if (!(error instanceof Error)) return new Error(clean(String(error)));
  const cause = error.cause === undefined ? undefined : cleanCopy(error.cause, clean);
  const copy = new Error(clean(error.message), cause && { cause });
  const code = 'code' in error && typeof error.code === 'string' && { code: clean(error.code) };
  return Object.assign(copy, { name: error.name, stack: clean(error.stack ?? '') }, code);
}

/** Ends early when the signal aborts. */
const sleepUnlessAborted = (ms: number, signal: AbortSignal | undefined) =>
  new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    if (signal?.aborted) done();
    else signal?.addEventListener('abort', done);
  });
