/**
 * Replacements in the bundles for parts of libraries that a Lambda function cannot use, or that are not worth
 * their cost. No other place changes what is bundled. `test/infra/bundles.test.ts` fails when the SDK asks these modules for something else.
 */
import { fileURLToPath } from 'node:url';

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

export const ALIASES: Readonly<Record<string, string>> = {
  '@aws-sdk/credential-provider-node': here('credential-provider-node.ts'),
  '@smithy/core/event-streams': here('event-streams.ts'),
  'node:http': here('node-http.ts'),
  '@aws-sdk/endpoint-cache': here('endpoint-cache.ts'),
};

/** Some CommonJS packages of the SDK ask for `require` also in a bundle of ES modules. */
export const REQUIRE_BANNER =
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);";
