/**
 * Modules that the bundles leave out: esbuild's option `alias` replaces them by this file. Each entry says how many kilobytes of a bundle
 * and how many milliseconds of CPU at a cold start this saves. `test/infra/bundles.test.ts` fails when an entry no longer saves anything;
 * esbuild fails when a bundle imports a name that this file does not export.
 */
import { fileURLToPath } from 'node:url';

export const LEFT_OUT = {
  '@aws-sdk/credential-provider-node': { kilobytes: 134.7, milliseconds: 8 },
  '@aws-sdk/endpoint-cache': { kilobytes: 7.6, milliseconds: 1.5 },
  '@smithy/core/event-streams': { kilobytes: 12.2, milliseconds: 2 },
  '@smithy/node-http-handler': { kilobytes: 8.3, milliseconds: 2.5 },
  '@smithy/signature-v4': { kilobytes: 9.4, milliseconds: 3 },
  'node:http': { kilobytes: 0, milliseconds: 16 },
} as const;

/** The value of esbuild's option `alias`. */
export const aliases = (modules = Object.keys(LEFT_OUT)) =>
  Object.fromEntries(modules.map((name) => [name, fileURLToPath(import.meta.url)]));

const leftOut = (): never => {
  throw new Error('this bundle lacks a part of the AWS SDK: see infra/left-out.ts');
};

class LeftOut {
  constructor() {
    leftOut();
  }
}

/** A function has its credentials in its environment. It needs no other source, such as profiles or instance metadata. */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';

/** The DynamoDB client creates this cache, but uses it only for endpoint discovery, which is off. */
export class EndpointCache {
  get = leftOut;
}

/** Not used: no operation of DynamoDB has an event stream, and `lib/table/` has its own signer and its own HTTP handler. */
export {
  LeftOut as EventStreamSerde,
  LeftOut as SignatureV4,
  leftOut as eventStreamSerdeProvider,
  leftOut as streamCollector,
};
/** The EventBridge client imports a second signer, for multi-Region endpoints. */
export const signatureV4aContainer = { SignatureV4a: null };
export const NodeHttpHandler = { create: (handler: unknown) => handler ?? leftOut() };

/** An import of `node:http` evaluates all its exports. The export `WebSocket` loads undici, which takes longer than loading the service. */
export const { Agent, request, STATUS_CODES } = process.getBuiltinModule('node:http');
