/**
 * `npm run test:mutants`: plants one bug after another in a copy of the sources and shows that a test fails for each.
 * Arguments choose mutants by a part of their name.
 */
import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { startDynamoDb } from '../../local/dynamodb-local.ts';
import { MUTANTS, type Mutant } from './mutants.ts';
import { checkTypes, copySources, root, withBug } from './plant.ts';

interface Report {
  testResults: { name: string; status: string; assertionResults: { fullName: string; status: string }[] }[];
}

/** @returns the names of the tests that failed */
function runTests(folder: string, { tests = [], only }: Mutant): Promise<string[]> {
  const out = `${folder}report.json`;
  rmSync(out, { force: true });
  const args = [`${root}node_modules/vitest/vitest.mjs`, 'run', ...tests, '--reporter=json', `--outputFile=${out}`];
  if (only) args.push('-t', only);
  const env = { ...process.env, DYNAMODB_ENDPOINT: dynamoDb.endpoint };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 2 ** 28, env }, () => {
      try {
        const { testResults } = JSON.parse(readFileSync(out, 'utf8')) as Report;
        const all = testResults.flatMap(({ assertionResults }) => assertionResults);
        const failed = all.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
        // A file whose set-up failed has no tests that failed.
        const files = testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);
        if (files.length === 0 && !all.some(({ status }) => status === 'passed')) throw new Error('no test was run');
        resolve(failed.length > 0 ? failed : files);
      } catch (error) {
        reject(error);
      }
    });
  });
}

const wanted = process.argv.slice(2);
const chosen = MUTANTS.filter(
  ({ name, tests }) => tests && (wanted.length === 0 || wanted.some((part) => name.includes(part))),
);
checkTypes(chosen);
let noticed = 0;
const left = chosen.values();
const lanes: string[] = [];
// Each test has tables of its own: one DynamoDB Local serves all.
const dynamoDb = await startDynamoDb({ endpoint: process.env.DYNAMODB_ENDPOINT });
await Promise.all(
  Array.from({ length: Math.min(4, cpus().length, chosen.length) }, async (_, lane) => {
    const folder = copySources(String(lane));
    lanes.push(folder);
    for (const mutant of left) {
      const failed = await withBug(folder, mutant, () => runTests(folder, mutant));
      if (failed.length > 0) noticed += 1;
      const verdict = failed.length > 0 ? `noticed by ${failed.length} tests` : 'SURVIVED';
      process.stdout.write(`${verdict.padEnd(24)} ${mutant.name}\n`);
    }
  }),
);
await dynamoDb.stop();
for (const folder of lanes) rmSync(folder, { recursive: true, force: true });
process.stdout.write(`\n${noticed} of ${chosen.length} noticed.\n`);
process.exit(noticed === chosen.length && noticed > 0 ? 0 : 1);
