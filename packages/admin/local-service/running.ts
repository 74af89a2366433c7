/** Which services `npm start` runs on this machine now: a file for each, so that the operator's command finds them. */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface RunningService {
  pid: number;
  url: string;
  /** Of its DynamoDB, with the credentials: the note is for this user only. */
  endpoint: string;
  tableName: string;
  /** URLs of its queues, by the outputs that a deployed stack has for them. */
  outputs: Readonly<Record<string, string>>;
}

const folder = fileURLToPath(new URL('../../../.local/running/', import.meta.url));

/** @returns takes the note back */
export function noteRunning(service: RunningService): () => Promise<void> {
  const file = `${folder}${service.pid}.json`;
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, JSON.stringify(service), { mode: 0o600 });
  return async () => rmSync(file, { force: true });
}

/** Those whose process is alive; notes of the others are taken away. */
export function listRunning(): RunningService[] {
  const services: RunningService[] = [];
  for (const name of globSync('*.json', { cwd: folder })) {
    const file = `${folder}${name}`;
    try {
      const service = JSON.parse(readFileSync(file, 'utf8')) as RunningService;
      if (isAlive(service.pid)) services.push(service);
      else rmSync(file, { force: true });
    } catch {
      // taken away meanwhile, or being written
    }
  }
  return services;
}

/** Whether a process runs. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
