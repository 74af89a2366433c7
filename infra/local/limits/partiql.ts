/** Batches of PartiQL statements: each member is granted, or answered with an error of its own. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Call } from './call.ts';
import { readUnitsOf, type Side } from './capacity.ts';
import type { Engine, Json, RowKey } from './engine.ts';
import { CONFLICT, invalid, throttledReason } from './errors.ts';
import { consumed } from './transactions.ts';
import { type Verdict, writeEach } from './writes.ts';

/** API Reference, `BatchExecuteStatement`. */
const BATCH_STATEMENTS = 25;

interface Statement {
  Statement: string;
  Parameters?: AttributeValue[];
  ConsistentRead?: boolean;
}

/**
 * The row that a statement is about. Of PartiQL the part is read that names a row by parameters: `UPDATE "table" …
 * WHERE pk = ? AND sk = ? …`, and so `DELETE` and `SELECT`.
 * @throws Refusal for any other statement
 */
async function rowOf(
  engine: Engine,
  { Statement: text, Parameters = [] }: Statement,
): Promise<RowKey & { side: Side }> {
  const [, verb = '', table] = /^\s*(UPDATE|DELETE\s+FROM|SELECT\b.*?\bFROM)\s+"?([\w.-]+)"?/is.exec(text) ?? [];
  if (table === undefined) throw invalid('limits: only UPDATE, DELETE and SELECT statements are followed');
  const names = await engine.keyNames(table);
  const key: Record<string, AttributeValue> = {};
  let index = 0;
  for (const [, name, placeholder] of text.matchAll(/'[^']*'|(?:("?[\w.]+"?)\s*=\s*)?(\?)/g)) {
    if (placeholder === undefined) continue;
    const plain = name?.replaceAll('"', '');
    const value = Parameters[index];
    if (plain !== undefined && names.includes(plain) && value) key[plain] = value;
    index += 1;
  }
  if (names.some((name) => !(name in key))) throw invalid('limits: a statement must name its key by parameters');
  return { table, key, side: /^SELECT/i.test(verb) ? 'read' : 'write' };
}

/**
 * Source: API Reference, `BatchExecuteStatement` (reads or writes, not both) and `BatchStatementError`: the call succeeds,
 * and each member that was not done has an error.
 */
export async function batchExecuteStatement(call: Call): Promise<Json> {
  const { request, engine, limits } = call;
  const statements = request.Statements as Statement[];
  if (statements.length > BATCH_STATEMENTS)
    throw invalid(`Member must have length less than or equal to ${BATCH_STATEMENTS}`);
  const rows = await Promise.all(statements.map((statement) => rowOf(engine, statement)));
  const side = rows[0]?.side ?? 'write';
  if (rows.some((row) => row.side !== side)) throw invalid('A batch must be of reads or of writes');

  /** Sends the members that are granted, and puts the errors of the others in their places. */
  async function send(verdicts: readonly Verdict[]): Promise<Json[]> {
    const granted = statements.filter((_statement, index) => verdicts[index] === 'granted');
    const { Responses } =
      granted.length > 0 ? await engine.call('BatchExecuteStatement', { Statements: granted }) : { Responses: [] };
    const done = (Responses as Json[]).values();
    return verdicts.map((verdict, index) => {
      if (verdict === 'granted') return done.next().value;
      return { TableName: rows[index]?.table, Error: verdict === 'conflict' ? CONFLICT : throttledReason(limits) };
    });
  }
  const answer = (Responses: Json[], units: readonly number[]) => {
    const used = rows.map(({ table }, index): [string, number] => [table, units[index] ?? 0]);
    return { Responses, ...consumed(request, used, side) };
  };

  if (side === 'write')
    return writeEach(call, rows, [], async (verdicts, settle) => answer(await send(verdicts), await settle()));
  const { verdicts, units } = await grantReads(call, rows, statements);
  return answer(await send(verdicts), units);
}

async function grantReads({ engine, partitions }: Call, rows: readonly RowKey[], statements: readonly Statement[]) {
  const sizes = await engine.storedBytes(rows);
  const partitionsOf = await Promise.all(rows.map((row) => engine.partitionOf(row)));
  const units = sizes.map((bytes, index) => readUnitsOf(bytes, statements[index]?.ConsistentRead ?? false));
  const verdicts = units.map(
    (each, index): Verdict => (partitions.take(partitionsOf[index] ?? '', 'read', each) ? 'granted' : 'throttled'),
  );
  return { verdicts, units: units.map((each, index) => (verdicts[index] === 'granted' ? each : 0)) };
}
