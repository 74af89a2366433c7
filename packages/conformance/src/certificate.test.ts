/** The contract as tests of the service at an address: `npm run certify`. */
import { inject } from 'vitest';
import { defineTests } from './define-tests.ts';
import { deployedEnvironment } from './environment.ts';
import { requirementsOf } from './sections/index.ts';

export interface Target {
  url: string;
  run?: string;
  only?: string[];
}

declare module 'vitest' {
  interface ProvidedContext {
    target: Target;
  }
}

const { url, run, only } = inject('target');
defineTests(requirementsOf(only), await deployedEnvironment(url, run, process.env), { deployed: true });
