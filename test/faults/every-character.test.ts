/** Texts of callers come through an export and an import unchanged, whichever characters they hold. */

import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Table } from '../../lib/dynamodb/client.ts';
import { readFeed } from '../../lib/operations/merge-alerts/read-incidents.ts';
import { chunksOf } from '../../lib/shared/chunks.ts';
import { stringifyJson } from '../../lib/shared/json.ts';
import { exportData } from '../../packages/admin/data/export.ts';
import { linesOf } from '../../packages/admin/data/lines.ts';
import { loadData } from '../../packages/admin/data/load.ts';
import { adminOf } from '../../packages/admin/test/support/run-admin.ts';
import { SEED, sample, seededRandom } from '../support/chance.ts';
import { type Account, newAccount } from '../support/incidents.ts';
import { handlersOver, invokeAlone, newTable, testDeps } from '../support/service.ts';

/** Longest title, in code points; a comment is at most twice as long. */
const TITLE = 512;
/** Every Unicode scalar value. */
const SCALARS = 0x110000 - 0x800;
const scalar = (index: number) => String.fromCodePoint(index < 0xd800 ? index : index + 0x800);

/** Characters that readers or writers of lines, JSON, UTF-8 or UTF-16 often get wrong. */
const AWKWARD = ['\0', '\n', '\r', '"', '\\', '\u007f', '\u0085', '\u2028', '\u2029', '\ud7ff', '\ue000', '\ufeff'];
const MORE_AWKWARD = ['\ufdd0', '\ufffd', '\uffff', '\u{10000}', '\u{10ffff}'];

/** Titles that hold every scalar value, each as long as a title may be. */
const all = Array.from({ length: SCALARS / TITLE }, (_, title) =>
  Array.from({ length: TITLE }, (_one, index) => scalar(title * TITLE + index)).join(''),
);
const awkward = all.filter((title) => [...AWKWARD, ...MORE_AWKWARD].some((character) => title.includes(character)));
const others = all.filter((title) => !awkward.includes(title));
const inBoth = [...awkward, ...sample(others, 3, seededRandom(SEED))];
/** What the merges write: awkward characters in a title and in a comment, the others in one of them. */
const texts = inBoth.map((title, index) => ({ title, comment: `${inBoth.at(index - 1)}${title}` }));
if (process.env.FAULTS !== undefined)
  for (const [title = '', ...comment] of chunksOf(others, 3)) texts.push({ title, comment: comment.join('') || title });
const tried = new Set(texts.flatMap(({ title, comment }) => [...title, ...comment])).size;

const ACCOUNTS = 4;
/** Bytes of each piece of a file that is read: at such a boundary some characters are cut in two. */
const PIECE = 1_021;

/** A table as a file of the data format, with sorted fields, and nothing escaped that JSON does not demand. */
async function fileOf(table: Table): Promise<string> {
  const entities = await Array.fromAsync(exportData(table));
  const ordered = (entity: object) => Object.fromEntries(Object.entries(entity).sort());
  return entities.map((entity) => `${stringifyJson(ordered(entity))}\n`).join('');
}

function piecesOf(file: string): Buffer[] {
  const bytes = Buffer.from(file);
  return Array.from({ length: Math.ceil(bytes.length / PIECE) }, (_, piece) =>
    bytes.subarray(piece * PIECE, (piece + 1) * PIECE),
  );
}

it(
  `${tried} Unicode scalar values go through merge, export, import and export unchanged (SEED=${SEED})`,
  async () => {
    const table = await newTable();
    const { mergeAlerts } = handlersOver(testDeps(table));
    const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => newAccount(table)));

    /** Merges, again while a busy machine makes it 503. @returns the incident */
    async function merge(tenant: Account, alerts: string[], title: string, comment: string): Promise<string> {
      const incident_id = await tenant.incident();
      const event = () => tenant.event({ alert_ids: alerts, incident_id, title, comment });
      for (;;) {
        const { status, text } = await invokeAlone(mergeAlerts, event());
        if (status === 200) return incident_id;
        expect([status, text]).toEqual([503, text]);
        await sleep(500);
      }
    }
    const left = texts.values();
    const sent = new Map<string, { tenant: Account; title: string; comment: string }>();
    await Promise.all(
      accounts.map(async (tenant) => {
        const alerts = await tenant.alerts(1);
        for (const { title, comment } of left)
          sent.set(await merge(tenant, alerts, title, comment), { tenant, title, comment });
      }),
    );
    expect(sent.size).toBe(texts.length);

    // Export and feed have the texts as they were sent.
    const exported = await fileOf(table);
    const titleOf = new Map<string, string>();
    for (const line of exported.split('\n').filter(Boolean)) {
      const { kind, incident_id, title } = JSON.parse(line);
      if (kind === 'incident') titleOf.set(incident_id, title);
    }
    for (const [id, { tenant, title, comment }] of sent) {
      expect(titleOf.get(id)).toBe(title);
      expect((await readFeed(table, tenant.account, id)).at(-1)?.entry.comment).toBe(comment);
    }

    // Into an empty table from a file that escapes nothing, and from there by the operator's commands.
    const [second, third] = [await newTable(), await newTable()];
    await loadData(second, 'export', linesOf(Readable.from(piecesOf(exported))), { nowSeconds: 1 });
    const { out, exitCode } = await adminOf(second)('export');
    expect(exitCode).toBe(0);
    expect((await adminOf(third)('import -', { stdin: out })).exitCode).toBe(0);
    expect((await fileOf(second)) === exported).toBe(true);
    expect((await fileOf(third)) === exported).toBe(true);
  },
  20 * 60_000,
);
