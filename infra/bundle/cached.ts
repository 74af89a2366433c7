/**
 * Entry of a bundle that has a compile cache; `compile-cache.ts` makes both. Where V8 or a file is not as it was then, the function
 * runs from `index.mjs` as ever, and counts that: see `lib/deps.ts`.
 */
import { createRequire } from 'node:module';
import type { Cache } from './compile-cache.ts';

const load = createRequire(import.meta.url);
const { createHash } = load('node:crypto') as typeof import('node:crypto');
const { readFileSync } = load('node:fs') as typeof import('node:fs');
const { constants, Script } = load('node:vm') as typeof import('node:vm');

declare const PROBED: string;
declare const CACHES: Readonly<Record<'withGc' | 'withoutGc', Cache>>;

const read = (name: string) => readFileSync(new URL(name, import.meta.url));

/** The script with its compiled code; undefined if there is none for this V8. */
function compiledScript() {
  const { file, digest, probe } = CACHES['gc' in globalThis ? 'withGc' : 'withoutGc'];
  // The whole script would be compiled before V8 tells that it rejects its cache: a small one tells the same.
  if (new Script(PROBED, { cachedData: Buffer.from(probe, 'base64') }).cachedDataRejected) return undefined;
  try {
    const [source, cachedData] = [read('script.js'), read(file)];
    // V8 does not notice damaged bytes, nor another source of the same length.
    if (createHash('sha256').update(source).update(cachedData).digest('hex') !== digest) return undefined;
    return new Script(source.toString('latin1'), {
      cachedData,
      filename: new URL('script.js', import.meta.url).href,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
  } catch {
    return undefined;
  }
}

const script = compiledScript();
if (script?.cachedDataRejected !== false) process.env.COMPILE_CACHE_REJECTED = 'true';

const whole: string = './index.mjs';
export const { handler } = await (script ? script.runInThisContext()(load, import.meta.url) : import(whole));
