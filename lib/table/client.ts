import {
  type AttributeValue,
  DynamoDBClient,
  type DynamoDBClientConfig,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { HttpRequest } from '@smithy/core/protocols';
import { StandardRetryStrategy } from '@smithy/core/retry';
import { Endpoint, LOCAL } from '../aws/endpoint.ts';
import { createHttpHandler, type Timeouts } from '../aws/http-handler.ts';
import { NativeJsonProtocol } from '../aws/json-protocol.ts';
import { createSigner } from '../aws/signer.ts';
import { toInt64 } from '../shared/json.ts';

/** A table to call, with the signal of the caller. Integers beyond 2^53 are read and written as bigints. */
export interface Table {
  readonly name: string;
  readonly client: DynamoDBDocumentClient;
  /** Converts a row that the document client leaves raw, such as that of a failed condition. */
  readonly unmarshall: <Row>(item: Record<string, AttributeValue>) => Row;
  /** Unix time in milliseconds: rows that have expired by then are read as gone. */
  readonly now: () => number;
  /** Aborts the calls: see {@link withSignal}. */
  readonly signal?: AbortSignal | undefined;
}

/** The same table, whose calls this signal aborts; undefined: nothing aborts them. */
export const withSignal = (table: Table, signal: AbortSignal | undefined): Table => ({ ...table, signal });

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

/** Milliseconds. Three attempts of a call that hangs stay within the deadline of a request. */
const TIMEOUTS = { connectionTimeout: 500, requestTimeout: 800 } as const;

/** Maximum delay before the first retry; the default of the SDK's DynamoDB client. */
const RETRY_DELAY_MS = 25;

/**
 * The SDK's strategy without its retry quota, which all calls of a client share: some twenty throttled calls use it up, and then the next
 * call fails at a single lost reply.
 */
function createRetryStrategy(maxAttempts: number): StandardRetryStrategy {
  const strategy = new StandardRetryStrategy(maxAttempts);
  strategy.refreshRetryTokenForRetry = (token, failure) => {
    const fresh = new StandardRetryStrategy({ maxAttempts, baseDelay: RETRY_DELAY_MS });
    // A write that conflicts with a transaction was not applied, and succeeds a moment later.
    const isConflict = failure.error instanceof TransactionConflictException;
    return fresh.refreshRetryTokenForRetry(token, isConflict ? { ...failure, errorType: 'TRANSIENT' } : failure);
  };
  return strategy;
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
    retryStrategy: createRetryStrategy(maxAttempts),
    requestHandler: createHttpHandler(timeouts),
    ...(region && { region }),
    ...(server && { endpoint: server.url, region: LOCAL, credentials: server.credentials }),
  };
}

/** Created for each use, since the document client modifies its options. */
const unmarshallOptions = () => ({
  wrapNumbers: (digits: string) => (/^-?\d+$/.test(digits) ? toInt64(digits) : Number(digits)),
});

const USER_AGENT = 'incident-monitoring-rum-service';

/** Connects to a table. Nothing is sent until the first call. */
export function connectTable(options: TableOptions): Table {
  const signer = createSigner(() => plainClient.config);
  const plainClient: DynamoDBClient = new DynamoDBClient({
    ...clientConfig(options),
    signer,
    protocol: NativeJsonProtocol,
  });
  const { middlewareStack } = plainClient;
  // It copies each input and output for a logger, even if there is none: a third of the CPU of reading a thousand rows.
  middlewareStack.remove('loggerMiddleware');
  // It marks requests so that Lambda can detect loops, but Lambda detects none that DynamoDB is part of.
  middlewareStack.remove('recursionDetectionMiddleware');
  // The SDK composes the user agent anew for each request.
  middlewareStack.add(
    (next) => (args) => {
      if (HttpRequest.isInstance(args.request)) args.request.headers['user-agent'] = USER_AGENT;
      return next(args);
    },
    { name: 'getUserAgentMiddleware', step: 'build', priority: 'low', override: true },
  );
  const client = DynamoDBDocumentClient.from(plainClient, {
    marshallOptions: { removeUndefinedValues: true },
    unmarshallOptions: unmarshallOptions(),
  });
  return {
    name: options.name,
    client,
    unmarshall: <Row>(item: Record<string, AttributeValue>) => unmarshall(item, unmarshallOptions()) as Row,
    now: Date.now,
  };
}
