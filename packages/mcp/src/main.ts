#!/usr/bin/env node
/** Serves the tools to an assistant over standard input and output. */
import { parseArgs } from 'node:util';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { endOnOutputError } from '../../client/src/command/output.ts';
import { createClient } from '../../client/src/index.ts';
import manifest from '../package.json' with { type: 'json' };
import { callerTools } from './caller-tools.ts';
import { operatorTools } from './operator-tools.ts';
import { dataResult, failureResult, invalidParameter, notAgreedResult, type Tool, visibleLines } from './tool.ts';

const HELP = `Usage: incident-monitoring-rum-mcp [OPTION...]

MCP server over standard input and output. It reads only, unless:
  --allow-writes     also offer the tools that write, which ask you first if the assistant can pass on questions
                     (elicitation); if not, only its own approval of tool calls protects
  --operator FOLDER  also offer operator_status, operator_find and operator_merge_preview, which run the
                     operator's command of the service's source in FOLDER, with the AWS credentials of the environment
  --stack NAME, --region REGION
                     the deployed stack that the operator tools read (default: the service that npm start runs)
  --help, --version

Environment:
  APP_KEY            app key of the account
  BASE_URL           address of the service (default: http://127.0.0.1:3000)
`;

/** A call ends within 50 seconds: assistants abandon a tool call after a minute. */
const TIME_LIMITS = { timeoutMs: 30_000, maxWaitMs: 20_000 };

/** How long the user has to answer a question. */
const USER_TIMEOUT_MS = 10 * 60_000;

function readOptions() {
  const { values } = parseArgs({
    options: {
      'allow-writes': { type: 'boolean', default: false },
      operator: { type: 'string' },
      stack: { type: 'string' },
      region: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean' },
    },
  });
  if ((values.stack ?? values.region) !== undefined && values.operator === undefined)
    throw new TypeError('--stack and --region require --operator');
  return values;
}

/** Asks the user by elicitation. True without asking if the assistant cannot pass on questions: then only its own approval protects. */
async function isAgreed(server: Server, question: readonly string[], signal: AbortSignal): Promise<boolean> {
  if (!server.getClientCapabilities()?.elicitation?.form) return true;
  const requestedSchema = { type: 'object' as const, properties: {} };
  const { action } = await server.elicitInput(
    { message: visibleLines(question), requestedSchema },
    { signal, timeout: USER_TIMEOUT_MS },
  );
  return action === 'accept';
}

async function serve({ 'allow-writes': allowWrites, operator, stack, region }: ReturnType<typeof readOptions>) {
  const { APP_KEY: appKey = '', BASE_URL } = process.env;
  const url = BASE_URL || 'http://127.0.0.1:3000';
  // Keeps the app key out of child processes, which do not need it.
  delete process.env.APP_KEY;
  const tools: readonly Tool[] = [
    ...callerTools(createClient({ url, appKey, ...TIME_LIMITS })).filter(({ question }) => allowWrites || !question),
    ...(operator === undefined ? [] : operatorTools({ folder: operator, stack, region })),
  ];
  const { name, version } = manifest;
  const server = new Server({ name, version }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ name, description, inputSchema, question }) => ({
      name,
      description,
      inputSchema,
      annotations: { readOnlyHint: !question, destructiveHint: !!question, idempotentHint: true, openWorldHint: false },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const { name, arguments: args = {} } = params;
    const tool = tools.find((tool) => tool.name === name);
    if (tool === undefined)
      return invalidParameter(`There is no tool ${name}. Tools that write require --allow-writes.`);
    const problem = tool.check(args);
    if (problem !== undefined) return invalidParameter(problem);
    const exact = tool.exact(args);
    try {
      if (tool.question && !(await isAgreed(server, tool.question(exact), signal))) return notAgreedResult;
      return dataResult(await tool.run(exact, signal));
    } catch (error) {
      return failureResult(error);
    }
  });
  await server.connect(new StdioServerTransport());
  // Aborts the calls under way: nobody waits for their answers any more.
  process.stdin.once('end', () => void server.close());
}

endOnOutputError();
try {
  const values = readOptions();
  if (values.help) process.stdout.write(HELP);
  else if (values.version) process.stdout.write(`${manifest.version}\n`);
  else await serve(values);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\nSee incident-monitoring-rum-mcp --help\n`);
  process.exitCode = 2;
}
