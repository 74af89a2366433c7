/** Sends records to the ingest queue of `npm start` with boto3, and runs the examples of docs/feed.md. Needs `.ci/install-python-tools`. */
import { DEMO_KEYS } from '../../infra/generate/sample.ts';
import { pythonTool, run, startService } from '../support/processes.ts';

{
  await using service = await startService();
  const [, FEED] = /^Feed +(\S+)$/m.exec(service.output) ?? [];
  const env = { FEED, BASE_URL: service.url, APP_KEY: DEMO_KEYS.demo };
  process.stdout.write(await run(pythonTool('python'), [`${import.meta.dirname}/feed.py`], env));
}
// With GATE the test fails if boto3 is missing.
await run('npx', ['vitest', 'run', 'test/integration/document-calls', '-t', 'docs/feed.md'], {
  PYTHON: pythonTool('python'),
  GATE: 'true',
});
