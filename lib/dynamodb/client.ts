import {
  type AttributeValue,
  DynamoDBClient,
  type DynamoDBClientConfig,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { StandardRetryStrategy } from '@smithy/core/retry';
import { toInt64 } from '../shared/json.ts';
import { createHttpHandler, type Timeouts } from './http-handler.ts';
import { createSigner } from './signer.ts';

/** A table to call, with the signal of the caller. Integers beyond 2^53 are read and written as bigints. */
export interface Table {
  readonly name: string;
  readonly client: DynamoDBDocumentClient;
  /** Converts a row that the document client leaves raw, such as that of a failed condition. */
  readonly unmarshall: <Row>(item: Record<string, AttributeValue>) => Row;
  /** Aborts the calls: see {@link withSignal}. */
  readonly signal?: AbortSignal | undefined;
}

/** The same table, whose calls this signal aborts; undefined: nothing aborts them. */
export const withSignal = (table: Table, signal: AbortSignal | undefined): Table => ({ ...table, signal });

/** The options of each call of the client. */
export const optionsOf = (signal: AbortSignal | undefined) => (signal ? { abortSignal: signal } : {});

export interface TableOptions {
  name: string;
  /** URL of a DynamoDB-compatible server, see {@link Endpoint}; absent: AWS. */
  endpoint?: string | undefined;
  /** Region of AWS; absent: that of the environment. */
  region?: string | undefined;
  /** Maximum attempts of one call, including the first. */
  maxAttempts?: number;
  /** Time limits of one attempt, in milliseconds. */
  timeouts?: Timeouts;
}

/** Region, and default credentials, of a DynamoDB-compatible server. DynamoDB Local accepts only letters and digits. */
const LOCAL = 'local';

/** Whether a text can be an endpoint. `localhost:8000` is a URL, too, with the protocol `localhost:`. */
export const isEndpoint = (text: string) => /^https?:$/.test(URL.parse(text)?.protocol ?? '');

/**
 * The address of a DynamoDB-compatible server, `http://ACCESS_KEY_ID:SECRET@HOST:PORT`, whose credentials are percent-encoded. It prints
 * itself without them. DynamoDB Local has separate tables for each access key id, and checks no secret.
 */
export class Endpoint {
  /** Without the credentials. */
  readonly url: string;
  readonly #username: string;
  readonly #password: string;

  /** @throws TypeError, whose message does not quote the text */
  constructor(text: string) {
    if (!isEndpoint(text)) throw new TypeError('an endpoint must be a URL, such as http://localhost:8000');
    const url = new URL(text);
    this.#username = decodeURIComponent(url.username);
    this.#password = decodeURIComponent(url.password);
    url.username = '';
    url.password = '';
    this.url = url.href.replace(/\/$/, '');
  }

  get hasCredentials(): boolean {
    return this.#username !== '' || this.#password !== '';
  }

  get credentials() {
    return { accessKeyId: this.#username || LOCAL, secretAccessKey: this.#password || LOCAL };
  }

  toString(): string {
    return this.url;
  }
}

/** Milliseconds. Three attempts of a call that hangs stay within the deadline of a request. */
const TIMEOUTS = { connectionTimeout: 500, requestTimeout: 800 } as const;

/** For commands: an operator waits longer than a caller of the API does. */
export const PATIENT = {
  maxAttempts: 5,
  timeouts: { connectionTimeout: 3_000, requestTimeout: 10_000 },
} as const satisfies Partial<TableOptions>;

/** Maximum delay before the first retry; the default of the SDK's DynamoDB client. */
const RETRY_DELAY_MS = 25;

/**
 * The SDK's strategy without its retry quota, which all calls of a client share: some twenty throttled calls use it up, and then the next
 * call fails at a single lost reply.
 */
class RetryWithoutQuota extends StandardRetryStrategy {
  override async refreshRetryTokenForRetry(
    ...[token, failure]: Parameters<StandardRetryStrategy['refreshRetryTokenForRetry']>
  ) {
    const fresh = new StandardRetryStrategy({ maxAttempts: await this.maxAttempts(), baseDelay: RETRY_DELAY_MS });
    // A write that conflicts with a transaction was not applied, and succeeds a moment later.
    const isConflict = failure.error instanceof TransactionConflictException;
    return fresh.refreshRetryTokenForRetry(token, isConflict ? { ...failure, errorType: 'TRANSIENT' } : failure);
  }
}

/** How the client connects to DynamoDB and retries. */
export function clientConfig({
  endpoint,
  region,
  maxAttempts = 3,
  timeouts = TIMEOUTS,
}: Omit<TableOptions, 'name'>): DynamoDBClientConfig {
  const server = endpoint ? new Endpoint(endpoint) : undefined;
  return {
    maxAttempts,
    retryMode: 'standard',
    retryStrategy: new RetryWithoutQuota(maxAttempts),
    requestHandler: createHttpHandler(timeouts),
    ...(region && { region }),
    ...(server && { endpoint: server.url, region: LOCAL, credentials: server.credentials }),
  };
}

/** Created for each use, since the document client modifies its options. */
const unmarshallOptions = () => ({
  wrapNumbers: (digits: string) => (/^-?\d+$/.test(digits) ? toInt64(digits) : Number(digits)),
});

/** Connects to a table. Nothing is sent until the first call. */
export function connectTable(options: TableOptions): Table {
  const signer = createSigner(() => plainClient.config);
  const plainClient: DynamoDBClient = new DynamoDBClient({ ...clientConfig(options), signer });
  // It copies each input and output for a logger, even if there is none: a third of the CPU of reading a thousand rows.
  plainClient.middlewareStack.remove('loggerMiddleware');
  const client = DynamoDBDocumentClient.from(plainClient, {
    marshallOptions: { removeUndefinedValues: true },
    unmarshallOptions: unmarshallOptions(),
  });
  return {
    name: options.name,
    client,
    unmarshall: <Row>(item: Record<string, AttributeValue>) => unmarshall(item, unmarshallOptions()) as Row,
  };
}
