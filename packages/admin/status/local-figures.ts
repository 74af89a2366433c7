import type { Measured } from './measured.ts';

/** Where `npm start` tells its own counters, on this machine only. */
export const LOCAL_STATUS_PATH = '/local/status';

const ANSWER_MS = 3_000;

export async function measureLocal(url: string): Promise<Measured> {
  const response = await fetch(new URL(LOCAL_STATUS_PATH, url), { signal: AbortSignal.timeout(ANSWER_MS) });
  if (!response.ok) throw new Error(`${LOCAL_STATUS_PATH} answers with status ${response.status}`);
  return (await response.json()) as Measured;
}
