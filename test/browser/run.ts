/**
 * `npm run test:browser`: the reference page and the console in headless Chromium (`CHROMIUM`, or /usr/bin/chromium), on a
 * service of their own. `--pictures` renews those of the documents.
 */
import { testConsole } from './console.ts';
import { testReference } from './reference.ts';
import { withService } from './surroundings.ts';

await withService(process.argv.includes('--pictures'), async (surroundings) => {
  await Promise.all([testReference(surroundings), testConsole(surroundings)]);
});
