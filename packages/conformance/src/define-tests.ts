/** Makes each requirement of the contract a test. */
import { test as base, describe } from 'vitest';
import { createApiClient, type Pages } from './api-client.ts';
import { type Environment, Skipped } from './environment.ts';
import { contract, type requirementsOf } from './sections/index.ts';

declare module 'vitest' {
  interface TaskMeta {
    sent?: number;
  }
}

type NumberedRequirement = ReturnType<typeof requirementsOf>[number];

const MAX_CALLS = 5;

/** @param options `deployed`: a check that lacks something is skipped, and checks run at the same time, since many wait */
export function defineTests(
  requirements: readonly NumberedRequirement[],
  environment: Environment,
  { deployed }: { deployed: boolean },
): void {
  const pages: Pages = new Map();
  const test = base.extend('api', ({ task, onTestFailed }, { onCleanup }) => {
    const api = createApiClient(environment, contract, pages);
    onCleanup(() => {
      task.meta.sent = api.sent();
    });
    onTestFailed(() => {
      for (const error of task.result?.errors ?? [])
        error.message = [error.message, ...api.calls.slice(-MAX_CALLS)].join('\n  ');
    });
    return api;
  });

  function define({ number, title, requirement }: NumberedRequirement): void {
    test(`${number} ${title}`, async ({ api, skip }) => {
      if ('todo' in requirement) return skip(requirement.todo);
      const check = 'usesUpRateLimit' in requirement ? requirement.usesUpRateLimit : requirement;
      try {
        await check(api);
      } catch (error) {
        if (error instanceof Skipped && deployed) skip(error.message);
        throw error;
      }
    });
  }

  const usingUpLimit = requirements.filter(({ requirement }) => 'usesUpRateLimit' in requirement);
  const others = requirements.filter((requirement) => !usingUpLimit.includes(requirement));
  for (const [section, inSection] of Map.groupBy(others, ({ section }) => section))
    describe(section, { concurrent: deployed }, () => inSection.forEach(define));
  // In reverse order, fewer of these checks wait for the next minute.
  if (usingUpLimit.length > 0) describe('After all others', () => usingUpLimit.toReversed().forEach(define));
}
