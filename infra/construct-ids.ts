import type { FunctionName } from './grants.ts';

/** Functions that had another name when they were first deployed: a resource whose logical id changes is replaced. */
const FIRST_NAMES: Readonly<Partial<Record<FunctionName, string>>> = {
  'usage-key-authorizer': 'label-caller',
  'fallback-route': 'refuse-route',
  'openapi-document': 'describe-api',
};

/** The construct id of a function, which its logical ids begin with. */
export const constructIdOf = (functionName: FunctionName): string => FIRST_NAMES[functionName] ?? functionName;
