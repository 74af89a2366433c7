/** Installs Stryker in a folder of its own, which keeps its packages out of `npm ci`. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const MANIFESTS = ['package.json', 'package-lock.json'];
const manifests = fileURLToPath(new URL('tools/', import.meta.url));
/** Below the root, so that Stryker finds the project's Vitest. */
export const tools = fileURLToPath(new URL('../../../.local/mutation/tools/', import.meta.url));

/** Installs Stryker, unless the locked version is installed. */
export function installStryker(): void {
  const read = (folder: string, name: string) =>
    existsSync(`${folder}${name}`) ? readFileSync(`${folder}${name}`, 'utf8') : undefined;
  const isCurrent = MANIFESTS.every((name) => read(tools, name) === read(manifests, name));
  if (isCurrent && existsSync(`${tools}node_modules/.package-lock.json`)) return;
  rmSync(tools, { recursive: true, force: true });
  mkdirSync(tools, { recursive: true });
  for (const name of MANIFESTS) cpSync(`${manifests}${name}`, `${tools}${name}`);
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--legacy-peer-deps'];
  execFileSync('npm', ['ci', ...options], { cwd: tools, stdio: 'inherit' });
}
