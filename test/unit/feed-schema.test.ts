/** The published schema and ingest-records agree on what a record is. */
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { problemsOf } from '../../lib/ingest/check-line.ts';
import { FEED_KINDS } from '../../lib/ingest/kinds.ts';
import { documentedLines } from '../support/documents.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const isRecord = ajv.compile(JSON.parse(readFileSync('feed.schema.json', 'utf8')));
const lines: Record<string, unknown>[] = documentedLines().map((line) => JSON.parse(line));

const host = { kind: 'host', account_id: 1, host_id: 'h' };
const status = { ...host, kind: 'host_status' };
it.each([
  ...lines,
  ...lines.map((line) => ({ ...line, at_ms: 1 })),
  ...lines.map((line) => ({ ...line, at_ms: 10_000_000_000_000 })),
  ...lines.map((line) => ({ ...line, account_id: 0 })),
  ...lines.map((line) => ({ ...line, colour: 'red' })),
  { ...host, retired: true },
  { ...host, retired: false },
  host,
  status,
  { ...status, node_count: null },
  { ...status, node_count: -1 },
  { ...status, host_id: null },
  { kind: 'unknown', account_id: 1 },
  { kind: 'alert', account_id: 1, title: 't', source_id: 's' },
  { kind: 'alert', account_id: 1, title: 't', source_id: 's', alert_id: 'a'.repeat(24) },
  { kind: 'alert', account_id: 1, title: 't' },
])('the schema accepts a record if and only if ingest-records does: %j', (record) => {
  expect(problemsOf(record, FEED_KINDS).length === 0).toBe(isRecord(record));
});
