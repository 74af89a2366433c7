/**
 * The functions as deployed (logger, metrics, settings from the environment), in a process of their own, so that all it
 * prints can be looked at. As a script: imports the functions that events name and calls them.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';

interface Request {
  id: number;
  name: string;
  event: unknown;
}
interface Response {
  id: number;
  result?: unknown;
  error?: { name: string; message: string; stack: string };
}

/** Milliseconds that a call has. */
const LEFT_MS = Number(process.env.LEFT_MS ?? 30_000);

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  const [tree = ''] = process.argv.slice(2);
  process.on('message', async ({ id, name, event }: Request) => {
    let response: Response;
    try {
      const { handler } = await import(`${tree}/functions/${name}.ts`);
      response = { id, result: await handler(event, { awsRequestId: 'a', getRemainingTimeInMillis: () => LEFT_MS }) };
    } catch (error) {
      const { name: kind, message, stack = '' } = error as Error;
      response = { id, error: { name: kind, message, stack } };
    }
    process.send?.(response);
  });
}

export interface FunctionsProcess {
  /** Calls a function as Lambda does. */
  invoke(name: string, event: unknown): Promise<Omit<Response, 'id'>>;
  /** All that was printed so far. */
  printed(): string;
  stop(): Promise<void>;
}

const THIS_TREE = fileURLToPath(new URL('../..', import.meta.url));

/** @param tree whose functions: the path of a checkout of the service */
export function startFunctions(env: Record<string, string>, tree = THIS_TREE): FunctionsProcess {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), [tree], {
    // The SDK looks for a home folder, which a user id of no name lacks.
    env: { PATH: process.env.PATH, HOME: tmpdir(), ...env },
    silent: true,
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
  const waiting = new Map<number, (response: Response) => void>();
  child.on('message', (response: Response) => waiting.get(response.id)?.(response));
  let last = 0;
  return {
    invoke(name, event) {
      last += 1;
      const id = last;
      return new Promise((resolve) => {
        waiting.set(id, resolve);
        child.send({ id, name, event } satisfies Request);
      });
    },
    printed: () => printed,
    async stop() {
      const ended = new Promise((resolve) => child.once('close', resolve));
      child.kill();
      await ended;
    },
  };
}
