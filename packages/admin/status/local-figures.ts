import type { Measured } from './measured.ts';

/** The path at which `npm start` serves its counters, to this machine only. */
export const LOCAL_STATUS_PATH = '/local/status';

const ANSWER_MS = 3_000;

export async function measureLocal(url: string): Promise<Measured> {
  const response = await fetch(new URL(LOCAL_STATUS_PATH, url), { signal: AbortSignal.timeout(ANSWER_MS) });
  if (!response.ok) throw new Error(`${LOCAL_STATUS_PATH} answers with status ${response.status}`);
  return (await response.json()) as Measured;
}
