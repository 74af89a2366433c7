import { sampleData } from '../../infra/generate/sample.ts';

const EACH = 3;

/** The first lines of each kind of the sample, where openapi.json has its examples from, for another account; no key. */
export function sampleOf(account: number): string[] {
  const taken = new Map<string, number>();
  return sampleData(Date.now())
    .map((line): Record<string, unknown> & { kind: string } => JSON.parse(line))
    .filter(({ kind, account_id }) => {
      taken.set(kind, (taken.get(kind) ?? 0) + 1);
      return account_id === 1 && kind !== 'app_key' && (taken.get(kind) ?? 0) <= EACH;
    })
    .map((line) => JSON.stringify({ ...line, account_id: account }));
}
