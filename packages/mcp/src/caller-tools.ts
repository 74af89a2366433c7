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

function toolOf(operation: ListedOperation, client: Client): Tool {
  const { name, summary, description, writes, request } = operation;
  // The method of each operation takes a request and these options.
  const call = client[operationIdOf(name)] as (request: Arguments, options: CallOptions) => Promise<unknown>;
  return tool({
    name: name.replaceAll('-', '_'),
    description: `${summary}. ${description}${writes ? ' Callers cannot undo it.' : ''}`,
    inputSchema: standard(request) as InputSchema,
    ...(writes && { question: (args) => questionOf(operation, args) }),
    async run(args, signal) {
      const answer = await call(args, { signal });
      return name === 'browse-fleet' ? withReasons(answer as FleetPage) : answer;
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
