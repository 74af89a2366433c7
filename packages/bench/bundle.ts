import { type BuildOptions, build } from 'esbuild';

/** Bundles a handler as a careful user deploys it: one ES module, minified. */
export async function bundle(entry: string, outfile: string, more: BuildOptions = {}): Promise<void> {
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    ...more,
  });
}
