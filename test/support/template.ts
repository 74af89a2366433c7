/** Synthesizes the stack's template once for all integration tests. */
import type { TestProject } from 'vitest/node';
import { synthesize } from '../../packages/local/synthesize.ts';
import type { Template } from '../../packages/local/template.ts';

declare module 'vitest' {
  interface ProvidedContext {
    template: Template;
  }
}

export default function setup({ provide }: TestProject): void {
  provide('template', synthesize());
}
