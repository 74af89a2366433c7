/** `npm start -- --watch`: restarts the service when a source changes; DynamoDB Local keeps running with its data. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { globSync, watch } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { freePort } from './dynamodb-local.ts';
import type { Options } from './start-options.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Each folder is watched by itself: a recursive watch, such as that of `node --watch`, misses files that an editor saves by renaming. */
const FOLDERS = '{lib,functions,infra}/**/';
/** Time to wait after a change, since editors write a file in several steps. */
const SETTLED_MS = 20;

/** @param endpoint of a DynamoDB that already has the table and its data */
export async function serveAndWatch(
  { port, fail, events, inspect, still }: Options,
  endpoint: string,
  atEnd: (stop: () => Promise<void>) => void,
): Promise<void> {
  const args = ['--port', String(port || (await freePort())), ...fail.flatMap((part) => ['--fail', part])];
  const env = { NODE_COMPILE_CACHE: `${root}node_modules/.cache/node`, ...process.env, DYNAMODB_ENDPOINT: endpoint };
  if (events !== undefined) args.push('--events', events);
  if (inspect) args.push('--inspect');
  if (still) args.push('--still');
  const start = () => fork(`${root}packages/local/start.ts`, args, { env });
  let serving = Promise.resolve(start());
  let timer: NodeJS.Timeout | undefined;
  for (const folder of globSync(FOLDERS, { cwd: root }))
    watch(`${root}${folder}`, (_event, name) => {
      if (!name?.endsWith('.ts')) return;
      clearTimeout(timer);
      timer = setTimeout(() => {
        process.stdout.write(`${folder}/${name} has changed: restarting\n`);
        serving = serving.then(stop).then(start);
      }, SETTLED_MS);
    });
  atEnd(async () => stop(await serving));
}

async function stop(service: ChildProcess): Promise<void> {
  if (service.exitCode !== null || service.signalCode !== null) return;
  service.kill();
  await once(service, 'exit');
}
