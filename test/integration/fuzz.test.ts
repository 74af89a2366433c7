import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Table } from '../../lib/dynamodb/client.ts';
import { type ListedOperation, type Operation, operations } from '../../lib/http/operations.ts';
import { type Int64, stringifyJson, toInt64 } from '../../lib/shared/json.ts';
import { SEED } from '../support/chance.ts';
import { newAccount } from '../support/incidents.ts';
import { document, expectDescribed } from '../support/openapi.ts';
import {
  type Answer,
  callAlone,
  type Handlers,
  handlersOver,
  NOW,
  newDouble,
  newTable,
  testDeps,
} from '../support/service.ts';

/** Requests of each kind for each operation. */
const RUNS = process.env.FAULTS === undefined ? 20 : 1_000;

interface Schema {
  type: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  format?: string;
  pattern?: string;
  minimum?: Int64;
  maximum?: Int64;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

interface Service {
  handlers: Handlers;
  appKey: string;
}

let clock = NOW;
async function serviceOn(table: Table): Promise<Service> {
  const { appKey } = await newAccount(table);
  return { handlers: handlersOver(testDeps(table, { now: () => clock })), appKey };
}
const service = await serviceOn(await newTable());
/** For requests that are refused for their form: they only read the app key. */
const inMemory = await serviceOn(newDouble());

const schemaOf = ({ path }: Operation): Schema =>
  document.paths[path].post.requestBody.content['application/json'].schema;

function valid(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc
        .bigInt({ min: BigInt(schema.minimum ?? -(2 ** 31)), max: BigInt(schema.maximum ?? 2 ** 31 - 1) })
        .map((value) => toInt64(String(value)));
    case 'array':
      return fc.array(valid(schema.items as Schema), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 8, 8),
      });
    case 'object': {
      const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => [name, valid(field)]);
      return fc.record(Object.fromEntries(fields), { requiredKeys: (schema.required ?? []) as never[] });
    }
    default:
      return schema.pattern === undefined
        ? fc.string({
            unit: 'grapheme',
            minLength: schema.minLength ?? 0,
            maxLength: Math.min(schema.maxLength ?? 40, 40),
          })
        : fc.stringMatching(new RegExp(schema.pattern));
  }
}

/** Values that a field must not have: of another type or form, or beyond a bound. */
function wrong(schema: Schema): fc.Arbitrary<unknown> {
  const others: unknown[] = [null, {}, [[]], 1.5, 'x', true, -1, ''].filter((value) => !fits(schema, value));
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, items } = schema;
  if (minimum !== undefined) others.push(toInt64(String(BigInt(minimum) - 1n)));
  if (maximum !== undefined) others.push(toInt64(String(BigInt(maximum) + 1n)));
  if (minLength) others.push('');
  if (maxLength !== undefined) others.push('x'.repeat(maxLength + 1));
  if (minItems) others.push([]);
  if (maxItems !== undefined) others.push(Array.from({ length: maxItems + 1 }, () => items?.enum?.[0] ?? 'x'));
  if (items?.enum) others.push(['none of these']);
  if (items && items.type === 'string') others.push([1], [null]);
  return fc.constantFrom(...others);
}
function fits(schema: Schema, value: unknown): boolean {
  switch (schema.type) {
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
      return Number.isInteger(value) && (value as number) >= (schema.minimum ?? -Infinity);
    case 'array':
      return Array.isArray(value) && value.length === 0;
    default:
      return typeof value === 'string' && !schema.pattern && value.length >= (schema.minLength ?? 0);
  }
}

/** Valid requests of an operation: without a cursor, whose form is not published, and with `scan_limit` at least `limit`. */
const requests = (operation: Operation) =>
  valid(schemaOf(operation)).map((body) => {
    const { cursor: _cursor, ...request } = body as { cursor?: string; limit?: number; scan_limit?: number };
    if (request.scan_limit === undefined && request.limit === undefined) return request;
    return { ...request, scan_limit: Math.max(request.scan_limit ?? 1_000, request.limit ?? 50) };
  });

/** A valid request with one thing wrong. */
const wrongRequests = (operation: Operation) => {
  const { properties = {}, required = [] } = schemaOf(operation);
  const missing = required.map((name) => fc.constant({ name, value: undefined }));
  const wrongs = Object.entries(properties).map(([name, field]) => wrong(field).map((value) => ({ name, value })));
  return fc
    .tuple(requests(operation), fc.oneof(...missing, ...wrongs))
    .map(([body, { name, value }]) => ({ ...body, [name]: value }));
};

async function send({ handlers, appKey }: Service, operation: ListedOperation, body: unknown): Promise<Answer> {
  clock += 60_000;
  return callAlone(handlers, operation, { appKey, rawBody: stringifyJson(body) });
}

describe.each(operations)(`requests made from openapi.json (SEED=${SEED}): $name`, (operation) => {
  it(`${RUNS} valid ones are never refused for their form, and never fail`, async () => {
    await fc.assert(
      fc.asyncProperty(requests(operation), async (body) => {
        const answer = await send(service, operation, body);
        expectDescribed(operation, answer);
        // Nothing that they name exists.
        expect(['OK', 'ResourceNotFound']).toContain(answer.body.error?.code ?? 'OK');
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });

  it(`${RUNS} with one thing wrong are InvalidParameter`, async () => {
    await fc.assert(
      fc.asyncProperty(wrongRequests(operation), async (body) => {
        const answer = await send(inMemory, operation, body);
        expectDescribed(operation, answer);
        expect(answer.body.error?.code).toBe('InvalidParameter');
      }),
      { numRuns: RUNS, seed: SEED },
    );
  });
});
