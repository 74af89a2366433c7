/**
 * Runs the functions as deployed, with settings from the environment, in a process of their own whose output can be read. The process
 * runs this file as a script, which imports and calls the functions that requests name.
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

/** Milliseconds that remain to a call until its function times out. */
const REMAINING_MS = Number(process.env.LEFT_MS ?? 30_000);

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  const [tree = ''] = process.argv.slice(2);
  process.on('message', async ({ id, name, event }: Request) => {
    let response: Response;
    try {
      const { handler } = await import(`${tree}/functions/${name}.ts`);
      response = {
        id,
        result: await handler(event, { awsRequestId: 'a', getRemainingTimeInMillis: () => REMAINING_MS }),
      };
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

/** @param tree the path of the checkout whose functions are run */
export function startFunctions(env: Record<string, string>, tree = THIS_TREE): FunctionsProcess {
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), [tree], {
    // The SDK asks for the home folder, which fails for a user id without a name.
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
  let lastId = 0;
  return {
    invoke(name, event) {
      lastId += 1;
      const id = lastId;
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
