/** The operations that agents call, as tools. Names, descriptions and arguments come from the operations' schemas. */
import { type ListedOperation, operationIdOf, operations } from '../../../lib/operations/index.ts';
import { type CallOptions, type Client, explainStatus, type FleetPage } from '../../client/src/index.ts';
import { type Arguments, type InputSchema, int64, type Tool, tool } from './tool.ts';

/** A schema without `x-` fields and formats, which assistants may not know. */
function standard(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(standard);
  if (typeof schema !== 'object' || schema === null) return schema;
  const known = Object.entries(schema).filter(([key]) => !key.startsWith('x-') && key !== 'format');
  const members = Object.fromEntries(known.map(([key, value]) => [key, standard(value)]));
  return 'format' in schema && schema.format === 'int64' ? int64(members) : members;
}

const SHOWN = 20;
function argumentText(value: unknown): string {
  if (!Array.isArray(value)) return String(value);
  const more = value.length - SHOWN;
  return `${value.slice(0, SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** What a call would write, for a person to agree to. */
const questionOf = ({ summary }: ListedOperation, args: Arguments): string[] => [
  `${summary}? The account cannot undo it.`,
  ...Object.entries(args).map(([field, value]) => `${field}: ${argumentText(value)}`),
];

/** Items of a page by default, and the length of a text in one: an assistant reads every character of a result. */
const ITEMS = 20;
const TEXT_LENGTH = 200;
/** What an item of a list lacks. */
const LEFT_OUT = new Set(['description', 'annotations']);
const PAGED =
  ` Returns ${ITEMS} items unless \`limit\` asks for more; the cursor of a result continues it. ` +
  'A text that ends in … is cut, and an item lacks description and annotations: get_alert has all of an alert.';

/** The value with its texts cut, and without what a list leaves out. */
function short(value: unknown): unknown {
  if (typeof value === 'string') {
    const kept = [...value.slice(0, 2 * TEXT_LENGTH)].slice(0, TEXT_LENGTH).join('');
    return kept.length < value.length ? `${kept}…` : value;
  }
  if (Array.isArray(value)) return value.map(short);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => !LEFT_OUT.has(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, short(member)]));
}

/** A page with short items, and its cursor whole. */
const shortPage = ({ items, ...page }: { items: readonly unknown[] }) => ({ items: items.map(short), ...page });

function toolOf(operation: ListedOperation, client: Client): Tool {
  const { name, summary, description, writes, request } = operation;
  const { properties, ...schema } = standard(request) as InputSchema;
  const { limit } = properties;
  // The method of each operation takes a request and these options.
  const call = client[operationIdOf(name)] as (request: Arguments, options: CallOptions) => Promise<unknown>;
  return tool({
    name: name.replaceAll('-', '_'),
    description: `${summary}. ${description}${writes ? ' Callers cannot undo it.' : ''}${limit ? PAGED : ''}`,
    inputSchema: { ...schema, properties: { ...properties, ...(limit && { limit: { ...limit, default: ITEMS } }) } },
    ...(writes && { question: (args) => questionOf(operation, args) }),
    async run(args, signal) {
      if (!limit) return call(args, { signal });
      const page = (await call({ limit: ITEMS, ...args }, { signal })) as { items: object[] };
      return shortPage(name === 'browse-fleet' ? withReasons(page as FleetPage) : page);
    },
  });
}

const withReasons = ({ items, ...page }: FleetPage) => ({
  items: items.map((host) => ({ ...host, why: explainStatus(host) })),
  ...page,
});

/** The feed is for machines. */
export const callerTools = (client: Client): Tool[] =>
  operations.filter(({ tag }) => tag !== 'Feed').map((operation) => toolOf(operation, client));
