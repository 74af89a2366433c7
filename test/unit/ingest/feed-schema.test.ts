/** The published schema and the feed agree on what a record is. */

import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sentRecordOf } from '../../../lib/ingest/check-line.ts';
import { MAX_RECORD_BYTES } from '../../../lib/ingest/limits.ts';
import { LINES } from '../../../lib/ingest/lines.ts';
import { INGEST_KINDS } from '../../../lib/model/kinds.ts';
import { documentedLines } from '../../support/documents.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const isRecord = ajv.compile(JSON.parse(readFileSync('feed.schema.json', 'utf8')));

/** JSON texts. Nothing between a double's precision and a bound is among them, since validators of JSON Schema read doubles. */
const numbers = fc.oneof(
  fc.integer({ min: -2, max: 3 }).map(String),
  fc.constantFrom('0.5', '1e2', '1e-130', '1e-131', '-1e-131', '1e400', '1e20', '-1e19', '99999999999999999999', '-0'),
  ...[10n ** 12n, 10n ** 13n, 604_800_000n, 2n ** 53n].map((bound) =>
    fc.bigInt({ min: bound - 2n, max: bound + 2n }).map(String),
  ),
);
const strings = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 4 }).map((text) => JSON.stringify(text)),
  fc.constantFrom(
    '""',
    '"\\ud800"',
    '"a\\udc00b"',
    '"😀"',
    '"ebpf"',
    ...['a', '0'].map((digit) => `"${digit.repeat(24)}"`),
    `"${'x'.repeat(1_025)}"`,
  ),
);
const names = fc.oneof(
  fc.constantFrom('__proto__', '\\u005f_proto__', 'constructor', '', 'ttl', 'pk', 'sk', 'row_order', 'colour'),
  fc.constantFrom('retired', 'alert_id', 'alert_key', 'labels', 'undone_deletion', '\\ud800', '😀'.repeat(64)),
  fc.constantFrom('😀', 'x').chain((letter) => fc.constantFrom(127, 128, 129).map((length) => letter.repeat(length))),
  fc.constantFrom(...INGEST_KINDS.flatMap((kind) => Object.keys(LINES[kind].properties))),
);
const deep = fc
  .tuple(fc.constantFrom('[', '{"a":'), fc.integer({ min: 27, max: 33 }))
  .map(([open, levels]) => `${open.repeat(levels)}1${(open === '[' ? ']' : '}').repeat(levels)}`);
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    ...[numbers, strings, deep, fc.constantFrom('true', 'false', 'null', '{"version":1,"at_ms":5}')],
    ...[
      strings.map((text) => `{"a":${text}}`),
      fc.constantFrom('"Ok"', '"http://a"', '"https:// b"', '"javascript:1"'),
    ],
    fc.array(tie('value'), { maxLength: 3 }).map((values) => `[${values.join()}]`),
    fc.tuple(names, tie('value')).map(([name, text]) => `{"${name}":${text}}`),
  ),
}));
const lines = documentedLines().filter((line) => !/"kind":"(account|app_key)"/.test(line));
const RETIREMENT = '{"kind":"host","account_id":1,"host_id":"h","retired":true}';
const mutated = fc
  .record({
    line: fc.constantFrom(RETIREMENT, ...lines),
    changes: fc.dictionary(names, fc.option(value, { freq: 9 }), { maxKeys: 2, noNullPrototype: true }),
  })
  .map(({ line, changes }) => {
    const fields = Object.entries(JSON.parse(line)).map(([name, value]): [string, string] => [
      name,
      JSON.stringify(value),
    ]);
    const changed = [...fields.filter(([name]) => !(name in changes)), ...Object.entries(changes)];
    return `{${changed.flatMap(([name, text]) => (text === null ? [] : `"${name}":${text}`)).join()}}`;
  })
  .filter((line) => Buffer.byteLength(line) <= MAX_RECORD_BYTES); // no schema tells bytes

const agree = (line: string) => {
  const { problems } = sentRecordOf(line);
  expect([line, problems.length === 0, problems]).toEqual([line, isRecord(JSON.parse(line)), problems]);
};

it('the schema and the feed agree on records with any fields', () => {
  fc.assert(fc.property(mutated, agree), { numRuns: Number(process.env.RECORDS ?? 5_000) });
});
