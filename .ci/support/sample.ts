import { sampleData } from '../../packages/local/sample.ts';

const LINES_PER_KIND = 3;

/** The sample's first lines of each kind, to which the examples of openapi.json refer, for another account and without app keys. */
export function sampleOf(account: number): string[] {
  const seen = new Map<string, number>();
  return sampleData(Date.now())
    .map((line): Record<string, unknown> & { kind: string } => JSON.parse(line))
    .filter(({ kind, account_id }) => {
      seen.set(kind, (seen.get(kind) ?? 0) + 1);
      return account_id === 1 && kind !== 'app_key' && (seen.get(kind) ?? 0) <= LINES_PER_KIND;
    })
    .map((line) => JSON.stringify({ ...line, account_id: account }));
}
