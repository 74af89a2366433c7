import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { measureTelemetry, telemetryTable } from '../../bench/telemetry.ts';

it('docs/cost.md has the bytes that a call writes to the logs', () => {
  const document = readFileSync(new URL('../../docs/cost.md', import.meta.url), 'utf8');
  expect(document).toContain(telemetryTable(measureTelemetry()));
});
