/** Texts of callers come through merge, export and import unchanged, whichever characters they hold. */
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { readHistory } from '../../lib/operations/merge-alerts/entry.ts';
import { mergeAlerts } from '../../lib/operations/merge-alerts/schema.ts';
import { stringifyJson } from '../../lib/shared/json.ts';
import type { Table } from '../../lib/table/client.ts';
import { keys } from '../../lib/table/keys.ts';
import { exportData } from '../../packages/admin/data/export.ts';
import { linesOf } from '../../packages/admin/data/lines.ts';
import { loadData } from '../../packages/admin/data/load.ts';
import { SEED, sample, seededRandom } from '../support/chance.ts';
import { newAccount } from '../support/incidents.ts';
import { callAlone, handlersOver, newTable, stored, testDeps } from '../support/service.ts';

/** Maximum length of a title, in code points. */
const TITLE_LENGTH = 512;
/** Characters that readers or writers of lines, JSON, UTF-8 or UTF-16 often get wrong. */
const AWKWARD = [
  ...['\0', '\n', '\r', '"', '\\', '\u007f', '\u0085', '\u2028', '\u2029', '\ud7ff', '\ue000', '\ufeff'],
  ...['\ufdd0', '\ufffd', '\uffff', '\u{10000}', '\u{10ffff}'],
];

/** Every Unicode scalar value, in titles of the greatest length. */
const scalars = Array.from({ length: 0x110000 }, (_, code) => code).filter((code) => code < 0xd800 || code > 0xdfff);
const titles = Array.from({ length: scalars.length / TITLE_LENGTH }, (_, index) =>
  String.fromCodePoint(...scalars.slice(index * TITLE_LENGTH, (index + 1) * TITLE_LENGTH)),
);
const [awkward = [], others = []] = [true, false].map((expected) =>
  titles.filter((title) => AWKWARD.some((character) => title.includes(character)) === expected),
);
const tried = process.env.FAULTS ? titles : [...awkward, ...sample(others, 3, seededRandom(SEED))];

/** Bytes of each piece in which a file is read: the end of a piece cuts some characters in two. */
const PIECE_BYTES = 1_021;

/** The export of a table as the text of a file, with sorted fields but not the time of an import. Only those characters are escaped that JSON requires. */
async function fileOf(table: Table): Promise<string> {
  const entities = await Array.fromAsync(exportData(table));
  const sorted = entities.map(({ at_ms: _at, ...entity }) => Object.fromEntries(Object.entries(entity).sort()));
  return sorted.map((entity) => `${stringifyJson(entity)}\n`).join('');
}

it(
  `${tried.length * TITLE_LENGTH} Unicode scalar values go through merge, export and import unchanged (SEED=${SEED})`,
  async () => {
    const [table, copy] = [await newTable(), await newTable()];
    const tenant = await newAccount(table);
    const handlers = handlersOver(testDeps(table));
    const alert_ids = await tenant.alerts(1);
    for (const [index, title] of tried.entries()) {
      const comment = `${tried.at(index - 1)}${title}`;
      const incident_id = await tenant.incident();
      const body = { alert_ids, incident_id, title, comment };
      await expect
        .poll(async () => (await callAlone(handlers, mergeAlerts, { appKey: tenant.appKey, body })).status)
        .toBe(200);
      expect((await stored(table, keys.incident(tenant.account, incident_id))).title).toBe(title);
      expect((await readHistory(table, tenant.account, incident_id)).at(-1)?.entry.comment).toBe(comment);
    }

    const exported = await fileOf(table);
    const bytes = Buffer.from(exported);
    const pieces = Array.from({ length: Math.ceil(bytes.length / PIECE_BYTES) }, (_, piece) =>
      bytes.subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES),
    );
    await loadData(copy, 'export', linesOf(Readable.from(pieces)), { nowMs: Date.now() });
    expect((await fileOf(copy)) === exported).toBe(true);
  },
  20 * 60_000,
);
