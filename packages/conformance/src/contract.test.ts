/** Makes each requirement of the contract a test. What cannot be checked is skipped with the reason. */
import { afterAll, test as base, describe, inject } from 'vitest';
import { createApiClient, type Pages } from './api-client.ts';
import { deployedEnvironment, Skipped } from './environment.ts';
import { requirementsOf } from './sections/index.ts';

export interface Target {
  /** Absent: a local service is started. */
  url?: string;
  run?: string;
  only?: string[];
}

declare module 'vitest' {
  interface ProvidedContext {
    target: Target;
  }
  interface TaskMeta {
    sent?: number;
  }
}

const { url, run, only } = inject('target');

async function startEnvironment() {
  const local = await import('./local.ts'); // Loads the CDK, which takes half a second.
  const { environment, stop } = await local.startEnvironment();
  afterAll(stop);
  return environment;
}

const environment = url === undefined ? await startEnvironment() : await deployedEnvironment(url, run, process.env);
const pages: Pages = new Map();
const MAX_CALLS = 5;

const test = base.extend('api', ({ task, onTestFailed }, { onCleanup }) => {
  const api = createApiClient(environment, pages);
  onCleanup(() => {
    task.meta.sent = api.sent();
  });
  onTestFailed(() => {
    for (const error of task.result?.errors ?? [])
      error.message = [error.message, ...api.calls.slice(-MAX_CALLS)].join('\n  ');
  });
  return api;
});

type NumberedRequirement = ReturnType<typeof requirementsOf>[number];

function define({ number, title, requirement }: NumberedRequirement): void {
  test(`${number} ${title}`, async ({ api, skip }) => {
    if ('todo' in requirement) return skip(requirement.todo);
    const check = 'usesUpRateLimit' in requirement ? requirement.usesUpRateLimit : requirement;
    try {
      await check(api);
    } catch (error) {
      // The local service has everything that checks need, so a skipped check is a failure there.
      if (error instanceof Skipped && url !== undefined) skip(error.message);
      throw error;
    }
  });
}

const chosen = requirementsOf(only);
/** A deployment is certified with one account: the checks that use up its rate limit come after all others. */
const usingUpLimit = url === undefined ? [] : chosen.filter(({ requirement }) => 'usesUpRateLimit' in requirement);
const others = chosen.filter((requirement) => !usingUpLimit.includes(requirement));

for (const [section, requirements] of Map.groupBy(others, ({ section }) => section))
  describe.concurrent(section, () => requirements.forEach(define));
// In reverse order, fewer of these checks wait for the next minute.
if (usingUpLimit.length > 0) describe('After all others', () => usingUpLimit.toReversed().forEach(define));
