/** Texts of callers come through merge, export and import unchanged, whichever characters they hold. */
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { stringifyJson } from '../../lib/shared/json.ts';
import type { Table } from '../../lib/table/client.ts';
import { exportData } from '../../packages/admin/data/export.ts';
import { linesOf } from '../../packages/admin/data/lines.ts';
import { loadData } from '../../packages/admin/data/load.ts';
import { newWorld } from '../integration/merge-alerts/merging.ts';
import { newDouble } from '../support/service.ts';

/** Maximum length of a title, in code points. */
const TITLE_LENGTH = 512;

/** Every Unicode scalar value, in titles of the greatest length. */
const scalars = Array.from({ length: 0x110000 }, (_, code) => code).filter((code) => code < 0xd800 || code > 0xdfff);
const titles = Array.from({ length: scalars.length / TITLE_LENGTH }, (_, index) =>
  String.fromCodePoint(...scalars.slice(index * TITLE_LENGTH, (index + 1) * TITLE_LENGTH)),
);

/** Bytes of each piece in which a file is read: the end of a piece cuts some characters in two. */
const PIECE_BYTES = 1_021;

/** The export of a table as the text of a file, with sorted fields but not the time of an import. Only those characters are escaped that JSON requires. */
async function fileOf(table: Table): Promise<string> {
  const entities = await Array.fromAsync(exportData(table));
  const sorted = entities.map(({ at_ms: _at, ...entity }) => Object.fromEntries(Object.entries(entity).sort()));
  return sorted.map((entity) => `${stringifyJson(entity)}\n`).join('');
}

it('every Unicode scalar value goes through merge, export and import unchanged', { timeout: 20 * 60_000 }, async () => {
  const { table, tenant, one, alerts, merge } = await newWorld(1);
  const comments = titles.map((title, index) => `${titles.at(index - 1)}${title}`);
  for (const [index, title] of titles.entries()) {
    await tenant.incident({ title });
    await merge({ alert_ids: alerts, incident_id: one, title, comment: comments[index] ?? '' });
    expect((await tenant.incidentRow(one)).title === title).toBe(true);
  }
  const recorded = (await tenant.feed(one)).map(({ comment }) => comment);
  expect(recorded.join() === comments.join()).toBe(true);

  const copy = newDouble();
  const exported = await fileOf(table);
  const bytes = Buffer.from(exported);
  const pieces = Array.from({ length: Math.ceil(bytes.length / PIECE_BYTES) }, (_, piece) =>
    bytes.subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES),
  );
  await loadData(copy, 'export', linesOf(Readable.from(pieces)), { nowMs: Date.now() });
  expect((await fileOf(copy)) === exported).toBe(true);
});
