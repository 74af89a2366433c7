import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';

/** A function to run: the module that exports its `handler`, and its environment. */
export interface FunctionSource {
  readonly entry: URL;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export interface LocalFunction {
  /** Loads the function first, if it is not. @throws what the handler throws, or why it cannot be loaded */
  invoke(event: unknown): Promise<unknown>;
}

/** What of Lambda's context the service reads. */
type OwnContext = Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>;
type Handler = (event: unknown, context: OwnContext) => Promise<unknown>;

/** A function in this process: if it ends the process, it ends the service. */
export function startFunction({ entry, env, timeoutMs }: FunctionSource): LocalFunction {
  let handler: Promise<Handler> | undefined;
  return {
    async invoke(event) {
      handler ??= importHandler(entry, env);
      const handle = await handler.catch((error: unknown) => {
        handler = undefined; // the next call tries again
        throw error;
      });
      return asJson(await handle(asJson(event), contextOf(timeoutMs)));
    },
  };
}

/** As Lambda passes events and results: neither side sees what the other does to its object. */
const asJson = (value: unknown) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

function contextOf(timeoutMs: number): OwnContext {
  const deadlineMs = Date.now() + timeoutMs;
  return { awsRequestId: randomUUID(), getRemainingTimeInMillis: () => Math.max(0, deadlineMs - Date.now()) };
}

let lastImport: Promise<unknown> = Promise.resolve();

/**
 * Evaluates a function's module; what it imports is shared. The module reads its environment while it is evaluated, so this
 * happens one at a time, and each time by an address of its own.
 */
function importHandler({ href }: URL, env: FunctionSource['env']): Promise<Handler> {
  const importing = lastImport.then(async () => {
    const before = { ...process.env };
    Object.assign(process.env, env);
    try {
      const module: { handler: Handler } = await import(`${href}#${randomUUID()}`);
      return module.handler;
    } finally {
      for (const name of Object.keys(env))
        if (before[name] === undefined) delete process.env[name];
        else process.env[name] = before[name];
    }
  });
  lastImport = importing.catch(() => undefined);
  return importing;
}
