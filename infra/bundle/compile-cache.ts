/**
 * Adds a compile cache to a function's bundle (setting `compileCache`): the code that V8 has compiled in an initialization
 * and a call. Node's own compile cache (`module.enableCompileCache`) has the exact version of Node and the user's id in its folder's name,
 * and does not tell what it rejects. Run as `node infra/bundle/compile-cache.ts FOLDER NAME`.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin, transform } from 'esbuild';

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** What V8 accepts of the code that another process has compiled. */
export interface Cache {
  readonly file: string;
  /** Of `script.js` and the file: SHA-256, in hex. */
  readonly digest: string;
  /** That of {@link PROBED}, in base64. */
  readonly probe: string;
}

/** A script that is rejected where the function's is: by V8's version, its build and its flags. */
export const PROBED = '(function probed(){return 1})';

/** Entry of the bundle, in place of that of `index.mjs`. */
export const CACHED_HANDLER = 'cached.handler';

/** Adds the cache to what CDK has bundled. */
export const compileCacheHooks = (name: string) => ({
  beforeBundling: () => [],
  beforeInstall: () => [],
  afterBundling: (_sources: string, folder: string) => [
    [process.execPath, here('compile-cache.ts'), folder, name].map((one) => JSON.stringify(one)).join(' '),
  ],
});

/** A script cannot import. */
const loaded: Plugin = {
  name: 'loaded',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: 'loaded' }));
    onLoad({ filter: /.*/, namespace: 'loaded' }, ({ path }) => ({
      contents: `module.exports = __load(${JSON.stringify(path)})`,
    }));
  },
};

/** Makes `index.mjs` a script, whose value is a function: of `require` and its own URL, to what the module exports. */
async function makeScript(folder: string): Promise<void> {
  await build({
    stdin: { contents: "import { handler } from './index.mjs'; __exported = { handler };", resolveDir: folder },
    outfile: join(folder, 'script.js'),
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // One byte for each character.
    charset: 'ascii',
    define: { 'import.meta.url': '__url' },
    plugins: [loaded],
    banner: { js: '(async(__load,__url)=>{"use strict";let __exported;' },
    footer: { js: 'return __exported})' },
    sourcemap: true,
    sourcesContent: false,
  });
}

/** V8 rejects a cache of other flags, but for those of the heap's size. */
function makeCache(folder: string, name: string, file: string, flags: readonly string[]): Cache {
  const args = [...flags, here('exercise.ts'), name, join(folder, 'script.js'), join(folder, file)];
  const probe = execFileSync(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] }).toString();
  const digest = createHash('sha256');
  for (const each of ['script.js', file]) digest.update(readFileSync(join(folder, each)));
  return { file, digest: digest.digest('hex'), probe };
}

/** Adds the compile cache of this V8 to the bundle of a function. @param folder has its `index.mjs` */
export async function addCompileCache(folder: string, name: string): Promise<void> {
  await makeScript(folder);
  const CACHES = {
    withoutGc: makeCache(folder, name, 'without-gc.cache', []),
    // Older runtimes of Lambda start Node with it: docs/deploy.md.
    withGc: makeCache(folder, name, 'with-gc.cache', ['--expose-gc']),
  };
  const define = { PROBED: JSON.stringify(PROBED), CACHES: JSON.stringify(CACHES) };
  const options = { loader: 'ts', format: 'esm', target: 'node24', minify: true, define } as const;
  const { code } = await transform(readFileSync(here('cached.ts'), 'utf8'), options);
  writeFileSync(join(folder, 'cached.mjs'), code);
}

if (import.meta.main) {
  const [folder = '', name = ''] = process.argv.slice(2);
  await addCompileCache(folder, name);
}
