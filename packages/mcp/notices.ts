/** Writes the licences of the bundled packages to a file beside the bundle: the licences require that. */
import { globSync, readFileSync, writeFileSync } from 'node:fs';

const dist = new URL('dist/', import.meta.url);
const { inputs } = JSON.parse(readFileSync(new URL('meta.json', dist), 'utf8')) as { inputs: object };
const folders = new Set(
  Object.keys(inputs).flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []),
);
const notices = [...folders].sort().map((folder) => {
  const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const [file] = globSync('{LICEN[SC]E,license,licence}*', { cwd: folder });
  if (file === undefined) throw new Error(`${name} has no licence file`);
  return `# ${name} ${version}\n\n${readFileSync(`${folder}/${file}`, 'utf8').trim()}\n`;
});
writeFileSync(new URL('THIRD-PARTY-NOTICES.txt', dist), notices.join('\n'));
