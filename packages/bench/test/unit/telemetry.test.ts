/** The bytes that a call writes to the logs, which CloudWatch bills for ingestion. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ACCESS_LOG_FORMAT } from '../../../../infra/access-log.ts';
import type { ApiRequest } from '../../../../lib/http/call.ts';
import { observeMiddleware } from '../../../../lib/http/envelope.ts';
import { operations } from '../../../../lib/http/operations.ts';
import { createLog } from '../../../../lib/shared/log.ts';
import { createMetrics } from '../../../../lib/shared/metrics.ts';

/** Values of the usual length for the variables of API Gateway's access log. */
const CONTEXT: Readonly<Record<string, string>> = {
  requestId: 'c6af9ac6-7b61-11e6-9a41-93e8deadbeef',
  extendedRequestId: 'JKJaXmPLvHcESHA=',
  requestTime: '21/Nov/2026:10:00:00 +0000',
  httpMethod: 'POST',
  status: '200',
  'identity.sourceIp': '203.0.113.177',
  'authorizer.principalId': '1000042',
  responseLatency: '27',
  'error.responseType': '-',
  integrationStatus: '200',
  integrationLatency: '25',
  integrationErrorMessage: '-',
  'authorizer.status': '200',
  'authorizer.latency': '12',
  'authorizer.error': '-',
};

/** @returns what an action writes to standard output */
function captureOutput(action: () => void): string[] {
  const lines: string[] = [];
  const { write } = process.stdout;
  process.stdout.write = (text: string | Uint8Array) => lines.push(String(text)) > 0;
  try {
    action();
  } finally {
    process.stdout.write = write;
  }
  return lines;
}

/** @returns for each operation the bytes that a successful call writes to the logs */
const measureTelemetry = (): number[] =>
  operations.map(({ name, path, ...operation }) => {
    const event = {
      requestContext: { extendedRequestId: CONTEXT.extendedRequestId },
      call: {
        requestId: CONTEXT.requestId,
        startedMs: 0,
        code: 'OK',
        caller: { accountId: 1_000_042, appKeyId: '0123456789abcdef' },
      },
    };
    const observe = observeMiddleware(
      { name, path, ...operation },
      {
        now: () => 12,
        log: createLog(),
        metrics: createMetrics({ namespace: 'IncidentMonitoringRum/IncidentMonitoringRum' }),
      },
    );
    const lines = captureOutput(() => observe.after?.({ event } as unknown as ApiRequest));
    const access = ACCESS_LOG_FORMAT.toString().replace(/\$context\.([\w.]+)/g, (_all, variable: string) =>
      variable === 'resourcePath' ? path : (CONTEXT[variable] ?? variable),
    );
    return Buffer.byteLength([...lines, access].join(''));
  });

it('docs/cost.md has the bytes that a call writes to the logs', () => {
  const document = readFileSync(new URL('../../../../docs/cost.md', import.meta.url), 'utf8');
  const bytes = measureTelemetry();
  expect(document).toContain(`A successful call logs ${Math.min(...bytes)} to ${Math.max(...bytes)} bytes`);
});
