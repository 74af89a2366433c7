import { randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';

export interface FunctionSource {
  /** The module that exports `handler`. */
  readonly entry: URL;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** Loads a function if necessary, then calls it. @throws what the handler throws, or the error of loading it */
export type Invoke = (event: unknown) => Promise<unknown>;

/** The part of Lambda's context that the service reads. */
type InvocationContext = Pick<Context, 'awsRequestId' | 'getRemainingTimeInMillis'>;
type Handler = (event: unknown, context: InvocationContext) => Promise<unknown>;

/** Runs a function in this process: if it exits, so does the service. */
export function createFunction({ entry, env, timeoutMs }: FunctionSource): Invoke {
  let handler: Promise<Handler> | undefined;
  return async (event) => {
    handler ??= importHandler(entry, env);
    const handle = await handler;
    return asJson(await handle(asJson(event), contextOf(timeoutMs)));
  };
}

type Settings = Readonly<Record<string, { environment: Readonly<Record<string, string>>; timeoutMs: number }>>;

/** The functions of a deployment. @param env is added to the environment of each @returns a function that calls one by its name */
export function createFunctions(functions: Settings, env: Readonly<Record<string, string>>) {
  const invokes = new Map(
    Object.entries(functions).map(([name, { environment, timeoutMs }]) => {
      const entry = new URL(`../../functions/${name}.ts`, import.meta.url);
      return [name, createFunction({ entry, env: { ...environment, ...env }, timeoutMs })] as const;
    }),
  );
  return async (name: string, event: unknown): Promise<unknown> => {
    const invoke = invokes.get(name);
    if (!invoke) throw new Error(`the template has no function ${name}`);
    return invoke(event);
  };
}

/** Copies an event or result as JSON, as Lambda does: neither side sees later changes by the other. */
const asJson = (value: unknown) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

function contextOf(timeoutMs: number): InvocationContext {
  const deadlineMs = Date.now() + timeoutMs;
  return { awsRequestId: randomUUID(), getRemainingTimeInMillis: () => Math.max(0, deadlineMs - Date.now()) };
}

let lastImport: Promise<unknown> = Promise.resolve();

/**
 * Imports a function's module under a URL of its own, so that each local function has its own instance; the modules that it imports are
 * shared. A module reads its environment while it is evaluated, so modules are evaluated one at a time.
 */
function importHandler({ href }: URL, env: FunctionSource['env']): Promise<Handler> {
  const importing = lastImport.then(async () => {
    const original = { ...process.env };
    Object.assign(process.env, env);
    try {
      const module: { handler: Handler } = await import(`${href}#${randomUUID()}`);
      return module.handler;
    } finally {
      for (const name of Object.keys(env))
        if (original[name] === undefined) delete process.env[name];
        else process.env[name] = original[name];
    }
  });
  lastImport = importing.catch(() => undefined);
  return importing;
}
