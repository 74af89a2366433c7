import { randomUUID } from 'node:crypto';
import { AwsJson1_0Protocol } from '@aws-sdk/core/protocols';
import { NormalizedSchema } from '@smithy/core/schema';

/**
 * What the SDK's codec reads otherwise than the engine: bytes, which are members `B` and `BS` in base64; null, which it leaves out; and attributes
 * named `__proto__`. Within a string the quotes are escaped, and the value of an attribute named `B` is an object.
 */
const NEEDS_CODEC = /"BS?"\s*:\s*["[]|:\s*null|"__proto__"/;

/**
 * The SDK's protocol for DynamoDB, which leaves JSON to the engine. Except for bytes, DynamoDB's JSON is what the SDK's commands take and
 * return; the SDK's codec looks each value up in the operation's schema. That codec still reads replies with bytes, which it does faster than
 * `JSON.parse` with a reviver. Not for operations whose replies have times, such as DescribeTable: it leaves them as numbers.
 */
export class NativeJsonProtocol extends AwsJson1_0Protocol {
  constructor(settings: ConstructorParameters<typeof AwsJson1_0Protocol>[0]) {
    super(settings);
    const codec = this.deserializer;
    let body = '';
    this.serializer = {
      setSerdeContext() {},
      write(schema, input) {
        body = JSON.stringify(withTokens(schema, input as Input), encodeBytes);
      },
      flush: () => body,
    };
    this.deserializer = {
      setSerdeContext: (context) => codec.setSerdeContext(context),
      read(schema, reply) {
        const text = typeof reply === 'string' ? reply : utf8.decode(reply);
        return NEEDS_CODEC.test(text) ? codec.read(schema, reply) : JSON.parse(text);
      },
    };
  }
}

type Input = Readonly<Record<string, unknown>>;
type Schema = Parameters<typeof NormalizedSchema.of>[0];

const utf8 = new TextDecoder();

/** Adds the tokens by which DynamoDB recognizes repeated attempts of a call, if the operation has any and the caller gave none. */
function withTokens(schema: Schema, input: Input): Input {
  for (const [name, member] of NormalizedSchema.of(schema).structIterator())
    if (member.isIdempotencyToken() && input[name] === undefined) return { ...input, [name]: randomUUID() };
  return input;
}

/** A replacer of `JSON.stringify`: bytes become base64. A Buffer comes as the result of its `toJSON`. */
function encodeBytes(this: Input, name: string, value: unknown): unknown {
  const original = this[name];
  if (!(original instanceof Uint8Array)) return value;
  return Buffer.from(original.buffer, original.byteOffset, original.byteLength).toString('base64');
}
