/**
 * `npm run test:mutants`: plants one bug after another in copies of the sources and shows that a test fails for each.
 * Arguments choose bugs by parts of their names.
 */
import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { startDynamoDb } from '../../local/dynamodb-local.ts';
import { MUTANTS, type Mutant } from './mutants.ts';
import { checkTypes, copySources, isChosen, root, withBug } from './plant.ts';

interface Report {
  testResults: { name: string; status: string; assertionResults: { fullName: string; status: string }[] }[];
}

/** @returns the names of the tests that failed, or of the files if none of their tests ran */
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
        const assertions = testResults.flatMap(({ assertionResults }) => assertionResults);
        const failed = assertions.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
        // A file whose set-up fails is listed without tests.
        const files = testResults.filter(({ status }) => status === 'failed').map(({ name }) => name);
        if (files.length === 0 && !assertions.some(({ status }) => status === 'passed'))
          throw new Error(`No test was run: ${tests.join(', ')} ${only ?? ''}`);
        resolve(failed.length > 0 ? failed : files);
      } catch (error) {
        reject(error);
      }
    });
  });
}

const chosen = MUTANTS.filter((mutant) => mutant.tests && isChosen(mutant));
checkTypes(chosen);
let noticed = 0;
const remaining = chosen.values();
// All workers share one DynamoDB Local, since each test has tables of its own.
const dynamoDb = await startDynamoDb({ endpoint: process.env.DYNAMODB_ENDPOINT });
await Promise.all(
  Array.from({ length: Math.min(4, cpus().length, chosen.length) }, async (_, worker) => {
    const folder = copySources(String(worker));
    for (const mutant of remaining) {
      const failed = await withBug(folder, mutant, () => runTests(folder, mutant));
      if (failed.length > 0) noticed += 1;
      const verdict = failed.length > 0 ? `noticed by ${failed.length} tests` : 'SURVIVED';
      process.stdout.write(`${verdict.padEnd(24)} ${mutant.name}\n`);
    }
    rmSync(folder, { recursive: true, force: true });
  }),
);
await dynamoDb.stop();
process.stdout.write(`\n${noticed} of ${chosen.length} noticed.\n`);
process.exit(noticed === chosen.length && noticed > 0 ? 0 : 1);
