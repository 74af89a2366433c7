import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { access, rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Int64, stringifyJson } from '../../../lib/shared/json.ts';
import { accessChangesOf } from '../data/access-changes.ts';
import { type CheckedLine, checkData } from '../data/check-lines.ts';
import { exportData } from '../data/export.ts';
import { linesOf } from '../data/lines.ts';
import { countKinds, countsText, type LoadOptions, writeData } from '../data/load.ts';
import { countText, printableJson } from '../text/printable.ts';
import { accountId } from './arguments.ts';
import type { AdminCommand, Session, WriteResult, WritingSession } from './command.ts';
import { CliError, type Io, say, UsageError } from './io.ts';
import { startProgress } from './output.ts';
import { confirm, type TargetOptions } from './target.ts';

export function addDataCommands(program: AdminCommand): void {
  program
    .command('import')
    .explain(
      'Import data. The whole file is checked first, and what it changes of accounts and app keys is told. After an interruption, the same command completes the import.',
      'import hosts.ndjson',
      'export --account 42 | npm run --silent admin -- import - --stack Other --yes',
    )
    .argument('<file>', 'newline-delimited JSON (docs/data-format.md); - for standard input')
    .option('--account <account>', 'refuse lines of any other account; can be repeated', collectAccounts)
    .allows('new accounts')
    .writes(importFile);

  program
    .command('export')
    .explain(
      'Export data in the format that `import` reads. App keys are exported as hashes, which import as the same keys.',
      'export --account 42 --out acme.ndjson',
    )
    .option('--account <account>', 'account to export (default: all); can be repeated', collectAccounts)
    .option('--out <file>', 'output file (default: standard output)')
    .reads(async ({ io, table, options }: Session<{ account?: Int64[]; out?: string }>) => {
      const { account, out } = options;
      let count = 0;
      async function* lines() {
        for await (const record of exportData(table, account)) {
          count += 1;
          yield `${printableJson(stringifyJson(record))}\n`;
        }
      }
      const source = Readable.from(lines());
      if (out === undefined) await pipeline(source, io.stdout, { end: false, signal: io.signal });
      else await writeWhole(out, source, io.signal);
      say(io, `Exported ${countText(count, 'line')}${out === undefined ? '' : ` to ${out}`}.`);
    });
}

async function importFile(
  { io, target, table, options, dryRun, audit }: WritingSession<TargetOptions & { account?: Int64[] }>,
  file: string,
): Promise<WriteResult> {
  const { gatewayKeys, endedAlertDays } = target;
  const { account: only } = options;
  const nowMs = io.now();
  const input = linesOf(await openInput(file, io), io.signal);
  const source = file === '-' ? 'stdin' : file;
  const lines = await checkData(table, source, input, { nowMs, only });
  io.signal.throwIfAborted();
  const records = lines.map(({ sent }) => sent);
  // `--account` says where lines may go, not that their access may be given to whom the file names.
  const isAsked = only === undefined || records.some(({ kind }) => kind === 'account' || kind === 'app_key');
  if (isAsked) for (const text of await accessChangesOf(table, records)) say(io, text);
  const counts = countKinds(lines);
  if (dryRun) return { text: `Valid: ${countsText(counts)}.`, json: { lines: counts } };
  if (isAsked) await confirm(target, options, io);
  const progress = startProgress(io, 'import', lines.length);
  const changedLines = new Set<CheckedLine>();
  const loadOptions: LoadOptions = {
    nowMs,
    endedAlertDays,
    record: audit.inTransaction,
    onWritten(line, isChanged) {
      progress.add(1);
      if (isChanged) changedLines.add(line);
    },
    signal: io.signal,
    ...(gatewayKeys && { gatewayKeys }),
  };
  const accounts = [...new Set(records.map(({ account_id }) => account_id))];
  await audit
    .around(accounts, file, () => writeData(table, source, lines, loadOptions))
    .finally(progress.end)
    .catch((error: unknown) => {
      if (!io.signal.aborted) say(io, `${progress.done()} of ${lines.length} lines were written.`);
      throw error;
    });
  const changed = countKinds(lines.filter((line) => changedLines.has(line)));
  const unchanged = lines.length - changedLines.size;
  const text = `Imported ${countsText(changed)}${unchangedText(unchanged)}.`;
  return { text, json: { lines: counts, changed, unchanged } };
}

const collectAccounts = (value: string, previous: Int64[] = []): Int64[] => [
  ...new Set([...previous, accountId(value)]),
];

const unchangedText = (count: number) =>
  count === 0
    ? ''
    : `; ${countText(count, 'line')} changed nothing, since the table has the same, newer or deleted data`;

async function openInput(file: string, io: Io): Promise<Readable> {
  if (file === '-') return io.stdin;
  await access(file).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`Cannot read ${file} (${error.code}): check the path.`);
  });
  if ((await stat(file)).isDirectory())
    throw new UsageError(`Cannot read ${file} (EISDIR): it is a folder; give a file.`);
  return createReadStream(file);
}

/**
 * Writes a file. A regular one is replaced as a whole, by a file that only its owner can read, since it holds names and key
 * hashes. Into anything else, such as a pipe, the data is written directly.
 */
async function writeWhole(path: string, source: Readable, signal: AbortSignal): Promise<void> {
  const existing = await stat(path).catch(() => undefined);
  const isRegular = existing?.isFile() ?? true;
  // Other users of the folder must not be able to guess the name and put a link there.
  const part = isRegular ? `${path}.${randomUUID()}.part` : path;
  const opening = isRegular ? { flags: 'wx', mode: 0o600 } : {};
  try {
    await pipeline(source, createWriteStream(part, opening), { signal });
    if (isRegular) await rename(part, path);
  } catch (error) {
    if (isRegular) await rm(part, { force: true });
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === 'ENOSPC')
      throw new CliError(`Cannot write ${path}: the disk is full. Free some space, or choose another --out.`);
    if (syscall === 'open' || syscall === 'write' || syscall === 'rename')
      throw new CliError(`Cannot write ${path} (${code}): check --out.`);
    throw error;
  }
}
