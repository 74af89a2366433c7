import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { measureTelemetry } from '../../telemetry.ts';

it('docs/cost.md has the bytes that a call writes to the logs', () => {
  const document = readFileSync(new URL('../../../../docs/cost.md', import.meta.url), 'utf8');
  const bytes = measureTelemetry();
  expect(document).toContain(`A successful call logs ${Math.min(...bytes)} to ${Math.max(...bytes)} bytes`);
});
