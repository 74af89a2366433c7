/**
 * Replacements in the bundles for parts of libraries that a Lambda function cannot use, or that are not worth
 * their cost. No other place changes what is bundled. A bundle that asks these modules for something else is not built, and
 * `test/infra/bundles.test.ts` fails.
 */
import { fileURLToPath } from 'node:url';

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

const UNUSED = here('unused.ts');
const NODE_BUILTINS = here('node-builtins.ts');

export const ALIASES: Readonly<Record<string, string>> = {
  '@aws-sdk/credential-provider-node': here('credential-provider-node.ts'),
  '@aws-sdk/endpoint-cache': UNUSED,
  '@aws/lambda-invoke-store': UNUSED,
  '@smithy/core/event-streams': UNUSED,
  '@smithy/node-http-handler': UNUSED,
  '@smithy/signature-v4': UNUSED,
  'node:crypto': NODE_BUILTINS,
  'node:fs': NODE_BUILTINS,
  'node:fs/promises': UNUSED,
  'node:http': here('node-http.ts'),
  'node:os': NODE_BUILTINS,
  'node:path': NODE_BUILTINS,
  'node:process': NODE_BUILTINS,
  'node:url': NODE_BUILTINS,
};

/** Some CommonJS packages of the SDK ask for `require` also in a bundle of ES modules. */
export const REQUIRE_BANNER =
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);";
