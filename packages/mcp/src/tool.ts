import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv';
import { ApiError, ServiceError } from '../../client/src/index.ts';

export type Arguments = Record<string, unknown>;
export type InputSchema = { type: 'object'; properties: Record<string, object>; required?: string[] };

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: InputSchema;
  readonly writes: boolean;
  /** Says what is wrong with the arguments; undefined if nothing is. */
  check(args: Arguments): string | undefined;
  /** @returns the answer, a JSON value */
  run(args: Arguments, signal: AbortSignal): Promise<unknown>;
}

const validator = new AjvJsonSchemaValidator();

/** Makes a tool that refuses arguments that its schema does not have. */
export function tool(definition: Omit<Tool, 'check' | 'writes'> & { writes?: boolean }): Tool {
  const inputSchema = { ...definition.inputSchema, additionalProperties: false };
  const validate = validator.getValidator(inputSchema);
  return {
    writes: false,
    ...definition,
    inputSchema,
    check(args) {
      const result = validate(args);
      return result.valid ? undefined : result.errorMessage;
    },
  };
}

/** The result of a errorResult call: the error of the service's envelope, if it sent one. */
export function failureResult(error: unknown): CallToolResult {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ServiceError) {
    const { code, requestId: request_id, retryAfter: retry_after } = error;
    return errorResult({ code, message, request_id, ...(retry_after !== undefined && { retry_after }) });
  }
  return errorResult({ code: error instanceof ApiError ? error.name : 'Failed', message });
}

export const invalidParameter = (message: string): CallToolResult => errorResult({ code: 'InvalidParameter', message });

const errorResult = (error: {
  code: string;
  message: string;
  request_id?: string;
  retry_after?: number;
}): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: JSON.stringify({ error }) }],
  structuredContent: { error },
});
