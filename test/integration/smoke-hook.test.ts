/** The hook that calls a new version before it gets traffic, and what it reports to CodeDeploy. */
import { readFileSync } from 'node:fs';
import { compileFunction } from 'node:vm';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, it } from 'vitest';
import { operationIdOf, operations } from '../../lib/http/operations.ts';
import { handlersOver, invokeAlone, newTable, testDeps } from '../support/service.ts';

const source = readFileSync(new URL('../../infra/smoke-hook-handler.cjs', import.meta.url), 'utf8');

interface Invoked {
  FunctionError?: string;
  Payload: Uint8Array;
}

/** Runs the hook on an operation. @returns what it reports to CodeDeploy */
async function hook(path: string, method: string, answer: (event: APIGatewayProxyEvent) => Promise<Invoked>) {
  const reported: unknown[] = [];
  class Command {
    readonly input: Record<string, unknown>;
    constructor(input: Record<string, unknown>) {
      this.input = input;
    }
  }
  const sdk = {
    InvokeCommand: Command,
    PutLifecycleEventHookExecutionStatusCommand: Command,
    LambdaClient: class {
      send({ input }: Command) {
        expect(input.FunctionName).toBe('arn:version');
        return answer(JSON.parse(String(input.Payload)));
      }
    },
    CodeDeployClient: class {
      send({ input }: Command) {
        reported.push(input);
      }
    },
  };
  const exported: { handler?: (event: object) => Promise<void> } = {};
  const env = { VERSION: 'arn:version', METHOD: method, RESOURCE: path };
  const quietConsole = { log: () => undefined, error: () => undefined };
  compileFunction(source, ['require', 'exports', 'process', 'console'])(() => sdk, exported, { env }, quietConsole);
  await exported.handler?.({ DeploymentId: 'd-1', LifecycleEventHookExecutionId: 'hook-1' });
  return reported;
}

const reports = (status: string) => [{ deploymentId: 'd-1', lifecycleEventHookExecutionId: 'hook-1', status }];
const payload = (value: unknown) => ({ Payload: new TextEncoder().encode(JSON.stringify(value)) });

it.each(operations)(
  '$name answers the call of the hook with 401, since its key is unknown',
  async ({ name, path, method }) => {
    const handlers = handlersOver(testDeps(await newTable()));
    const answers: number[] = [];
    const reported = await hook(path, method, async (event) => {
      const answer = await invokeAlone(handlers[operationIdOf(name)], event);
      answers.push(answer.status);
      return payload({ statusCode: answer.status, body: '' });
    });
    expect(answers).toEqual([401]);
    expect(reported).toEqual(reports('Succeeded'));
  },
);

it.each<[string, string, () => Promise<Invoked>]>([
  ['whose table is down', 'Succeeded', async () => payload({ statusCode: 503, body: '{}' })],
  ['that has a bug', 'Failed', async () => payload({ statusCode: 500, body: '{}' })],
  ['that accepts an unknown key', 'Failed', async () => payload({ statusCode: 200, body: '{}' })],
  ['that crashes', 'Failed', async () => ({ FunctionError: 'Unhandled', ...payload({ errorMessage: 'no' }) })],
  ['that cannot be called', 'Failed', () => Promise.reject(new Error('AccessDenied'))],
])('a version %s is reported as %s', async (_case, status, answer) => {
  expect(await hook('/alert/merge', 'POST', answer)).toEqual(reports(status));
});
