/**
 * `npm run test:browser`: tests the reference page and the console in headless Chromium (`CHROMIUM`, or /usr/bin/chromium), with
 * services of their own. `--pictures` renews the pictures of the documents.
 */
import { testConsole } from './console.ts';
import { testReference } from './reference.ts';
import { testServiceWorker } from './service-worker.ts';
import { withService } from './surroundings.ts';

await withService(process.argv.includes('--pictures'), async (surroundings) => {
  await Promise.all([testReference(surroundings), testConsole(surroundings)]);
  await testServiceWorker(surroundings.browser);
});
