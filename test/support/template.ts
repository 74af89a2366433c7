/** Synthesizes the stack's template once for all integration tests, and for the services that they start. */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { synthesize } from '../../packages/local/synthesize.ts';
import type { Template } from '../../packages/local/template.ts';

declare module 'vitest' {
  interface ProvidedContext {
    template: Template;
  }
}

export default function setup({ provide }: TestProject): void {
  const template = synthesize();
  const file = join(tmpdir(), 'template.json');
  writeFileSync(file, JSON.stringify(template));
  process.env.SYNTHESIZED_TEMPLATE = file; // read by packages/local/serve.ts
  provide('template', template);
}
