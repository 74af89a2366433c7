/**
 * Compares `openapi.json` with the released document by oasdiff, which covers requests, answers, headers and parameters. Planted changes show
 * that it reports changes that break callers, and no others. Needs Go, to build oasdiff, and jq.
 */
import { strict as assert } from 'node:assert';
import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { goTool, root, run, shell } from '../support/processes.ts';

/** Changes of the document that break callers, as filters of jq: one for each rule of severity.txt, and some that oasdiff finds by itself. */
const BREAKING = [
  'del(.paths["/alert/merge"].post.responses["413"])',
  'del(.components.schemas.ErrorCode.enum[-1])',
  'del(.components.responses.TooManyRequests.headers["Retry-After"])',
  '.components.schemas.BrowseFleetRequest.properties.limit.default = 20',
  '.paths["/alert/merge"].post.operationId = "merge"',
  'del(.security)',
  'del(.paths["/alert/merge"])',
  '.paths["/rum/resource/info"].post.requestBody.required = true',
  '.components.schemas.BrowseFleetRequest.properties.limit.maximum = 50',
  'del(.components.schemas.FleetPage.required[-1])',
];
const HARMLESS = [
  '.',
  '.components.schemas.MergeAlertsRequest.properties.more = { type: "string" }',
  '.components.schemas.FleetPage.properties.more = { type: "string" }',
  '.components.schemas.BrowseFleetRequest.properties.limit.maximum = 500',
];

const severityLevels = join(import.meta.dirname, 'severity.txt');
/** The level of a warning: oasdiff's levels begin with 1, info, and end with 3, error. */
const WARNING = 2;
/** @returns the changes that break callers */
async function breakingChanges(before: string, after: string): Promise<unknown[]> {
  const options = `--severity-levels '${severityLevels}' --format json`;
  const printed = await shell(`${goTool('oasdiff')} changelog '${before}' '${after}' ${options}`);
  const changes = JSON.parse(printed || '[]') as { id: string; level: number }[];
  // oasdiff ignores severity levels that are set for changes of security, so the removal is named here.
  return changes.filter(({ id, level }) => level >= WARNING || id === 'api-global-security-removed');
}

const current = join(root, 'openapi.json');
assert.deepEqual(await breakingChanges(join(root, 'docs/openapi-released.json'), current), []);

using folder = mkdtempDisposableSync(join(tmpdir(), 'compatibility-'));
async function changed(filter: string): Promise<string> {
  const file = join(folder.path, 'changed.json');
  writeFileSync(file, await run('jq', [filter, current]));
  return file;
}
// jq rounds large numbers, so both documents that are compared must come from jq.
const unchanged = join(folder.path, 'unchanged.json');
writeFileSync(unchanged, await run('jq', ['.', current]));
for (const filter of BREAKING)
  assert.notDeepEqual(await breakingChanges(unchanged, await changed(filter)), [], `oasdiff does not find ${filter}`);
for (const filter of HARMLESS)
  assert.deepEqual(await breakingChanges(unchanged, await changed(filter)), [], `${filter} breaks no callers`);
process.stdout.write(`ok; ${BREAKING.length + HARMLESS.length} planted changes\n`);
