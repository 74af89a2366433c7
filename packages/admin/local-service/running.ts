/** The `npm start` services that run on this machine. Each has a file, by which the admin command finds it. */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface RunningService {
  pid: number;
  url: string;
  /** URL of its DynamoDB, with the credentials, so the file is readable by this user only. */
  endpoint: string;
  tableName: string;
  /** URLs of its queues, by the names of a deployed stack's outputs for them. */
  outputs: Readonly<Record<string, string>>;
}

const folder = fileURLToPath(new URL('../../../.local/running/', import.meta.url));

/** Writes the file of a service. @returns a function that removes it */
export function registerRunning(service: RunningService): () => Promise<void> {
  const file = `${folder}${service.pid}.json`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, JSON.stringify(service), { mode: 0o600 });
  return async () => rmSync(file, { force: true });
}

/** The services whose process runs. Files of others are removed. */
export function listRunning(): RunningService[] {
  const services: RunningService[] = [];
  for (const name of globSync('*.json', { cwd: folder })) {
    const file = `${folder}${name}`;
    try {
      const service = JSON.parse(readFileSync(file, 'utf8')) as RunningService;
      if (isAlive(service.pid)) services.push(service);
      else rmSync(file, { force: true });
    } catch {
      // removed meanwhile, or being written
    }
  }
  return services;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
