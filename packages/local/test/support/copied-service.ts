import { cpSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../../../', import.meta.url));

const NEEDED = [
  'lib',
  'functions',
  'infra',
  'packages',
  'cdk.json',
  'openapi.json',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];

/** Copies what `npm start` runs into a folder of its own, in which sources may be changed. @returns its path */
export function copyService(): string {
  const folder = mkdtempSync(join(tmpdir(), 'service-'));
  for (const name of NEEDED) cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}
