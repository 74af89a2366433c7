import { sampleData } from '../../infra/generate/sample.ts';

const LINES_PER_KIND = 3;

/** The sample's first lines of each kind, which the examples of openapi.json are about, for another account and without app keys. */
export function sampleOf(account: number): string[] {
  const taken = new Map<string, number>();
  return sampleData(Date.now())
    .map((line): Record<string, unknown> & { kind: string } => JSON.parse(line))
    .filter(({ kind, account_id }) => {
      taken.set(kind, (taken.get(kind) ?? 0) + 1);
      return account_id === 1 && kind !== 'app_key' && (taken.get(kind) ?? 0) <= LINES_PER_KIND;
    })
    .map((line) => JSON.stringify({ ...line, account_id: account }));
}
