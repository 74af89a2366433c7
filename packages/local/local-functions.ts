import { randomUUID } from 'node:crypto';
import { registerHooks } from 'node:module';
import type { Context } from 'aws-lambda';

/** A function to run: the module that exports its `handler`, and its environment. */
export interface FunctionSource {
  readonly entry: URL;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export interface LocalFunction {
  /**
   * Loads the function; if it is loaded, again: with the modules of the service that have changed (see {@link forgetModules}),
   * or with all if none has. The code that was loaded before answers until then, and if this fails.
   * @throws why it cannot be loaded
   */
  load(): Promise<void>;
  /** Loads the function first, if it is not. @throws what the handler throws, or why it cannot be loaded */
  invoke(event: unknown): Promise<unknown>;
  stop(): Promise<void>;
}

type Handler = (event: unknown, context: Context) => Promise<unknown>;

/** A function in this process: if it ends the process, it ends the service. */
export function startFunction({ entry, env, timeoutMs }: FunctionSource): LocalFunction {
  let handler: Promise<Handler> | undefined;
  return {
    async load() {
      const loading = importHandler(entry, env);
      handler ??= loading;
      await loading;
      handler = loading;
    },
    async invoke(event) {
      handler ??= importHandler(entry, env);
      const handle = await handler.catch((error: unknown) => {
        handler = undefined; // the next call tries again
        throw error;
      });
      return asJson(await handle(asJson(event), contextOf(timeoutMs)));
    },
    async stop() {},
  };
}

/** As Lambda passes events and results: neither side sees what the other does to its object. */
const asJson = (value: unknown) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

function contextOf(timeoutMs: number): Context {
  const deadlineMs = Date.now() + timeoutMs;
  return {
    awsRequestId: randomUUID(),
    functionName: 'local',
    functionVersion: '$LATEST',
    invokedFunctionArn: 'arn:aws:lambda:local:000000000000:function:local',
    memoryLimitInMB: '256',
    logGroupName: 'local',
    logStreamName: 'local',
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, deadlineMs - Date.now()),
    done: () => {},
    fail: () => {},
    succeed: () => {},
  };
}

/** These files have changed: functions that are loaded from now on import them anew, and all that imports them. */
export function forgetModules(files: Iterable<URL>): void {
  imported.changes += 1;
  imported.times.clear();
  const affected = new Set([...files].map(({ href }) => href));
  // A set goes on to what is added to it meanwhile.
  for (const file of affected) {
    imported.changed.set(file, imported.changes);
    for (const importer of imported.importers.get(file) ?? []) affected.add(importer);
  }
}

/**
 * Imports a module again, however often it was imported: from the second time on with a fragment of its own. Functions read
 * their environment while they are imported, so one is imported at a time.
 */
function importHandler({ href }: URL, env: FunctionSource['env']): Promise<Handler> {
  const importing = imported.last.then(async () => {
    const { changes, times } = imported;
    const again = times.get(href) ?? 0;
    times.set(href, again + 1);
    const before = { ...process.env };
    Object.assign(process.env, env);
    try {
      const module: { handler: Handler } = await import(changes + again === 0 ? href : `${href}#${changes}.${again}`);
      return module.handler;
    } finally {
      for (const name of Object.keys(env))
        if (before[name] === undefined) delete process.env[name];
        else process.env[name] = before[name];
    }
  });
  imported.last = importing.catch(() => undefined);
  return importing;
}

interface Imports {
  /** How often the sources have changed. */
  changes: number;
  /** The last of these changes that affected a file, by its address. */
  changed: Map<string, number>;
  /** Of each file of the service, those that import it. */
  importers: Map<string, Set<string>>;
  /** How often each module was imported since the last change. */
  times: Map<string, number>;
  last: Promise<unknown>;
}

/** Of the whole process, as Node's modules are: a test runner evaluates this file again for each file of tests. */
const everywhere = globalThis as { importsOfFunctions?: Imports };
everywhere.importsOfFunctions ??= begin();
const imported = everywhere.importsOfFunctions;

function begin(): Imports {
  const [changed, importers] = [new Map<string, number>(), new Map<string, Set<string>>()];
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const [, importer = '', fragment = '', again] = /^([^#]*)(#\d+\.(\d+))?$/.exec(context.parentURL ?? '') ?? [];
      if (!found.url.startsWith('file:') || found.url.includes('/node_modules/')) return found;
      const known = importers.get(found.url) ?? new Set();
      importers.set(found.url, known.add(importer));
      // What a function imports for the second time is its own, with all that this imports.
      if (Number(again) > 0) return { ...found, url: found.url + fragment };
      const change = changed.get(found.url);
      return fragment === '' || change === undefined ? found : { ...found, url: `${found.url}#${change}.0` };
    },
  });
  return { changes: 0, changed, importers, times: new Map(), last: Promise.resolve() };
}
