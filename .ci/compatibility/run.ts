/**
 * Compares `openapi.json` with the released document by oasdiff, which looks at requests, answers, headers and parameters. Planted
 * changes show that it finds those that break callers, and no others. Needs Go, to build oasdiff.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { goTool, root, run } from '../support/processes.ts';
import { BREAKING, HARMLESS } from './planted.ts';

const oasdiff = await goTool('github.com/oasdiff/oasdiff');
const current = join(root, 'openapi.json');
const severityLevels = join(import.meta.dirname, 'severity.txt');

/** @returns a line for each change that breaks callers */
async function breakingChanges(before: string, after: string): Promise<string[]> {
  const found = await run(oasdiff, [
    'breaking',
    before,
    after,
    '--severity-levels',
    severityLevels,
    '--format',
    'json',
  ]);
  return (JSON.parse(found || '[]') as { id: string; path: string; text: string }[]).map(
    ({ id, path, text }) => `${id}: ${path}: ${text}`,
  );
}

const folder = mkdtempSync(join(tmpdir(), 'compatibility-'));
const problems: string[] = [];
try {
  for (const line of await breakingChanges(join(root, 'docs/openapi-released.json'), current)) problems.push(line);
  for (const [changes, breaks] of [
    [BREAKING, true],
    [HARMLESS, false],
  ] as const)
    for (const [name, change] of changes) {
      const document = JSON.parse(readFileSync(current, 'utf8'));
      change(document);
      const changed = join(folder, 'changed.json');
      writeFileSync(changed, JSON.stringify(document));
      const found = await breakingChanges(current, changed);
      if (found.length > 0 !== breaks)
        problems.push(
          `planted change "${name}": ${found.length > 0 ? `reported as ${found.join(', ')}` : 'not found'}`,
        );
    }
} finally {
  rmSync(folder, { recursive: true });
}
process.stdout.write(`${BREAKING.length + HARMLESS.length} planted changes\n`);
for (const problem of problems) process.stdout.write(`NOT OK ${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
