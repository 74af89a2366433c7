import type { FunctionName } from './grants.ts';

/** The first names of functions that were renamed. Their logical ids keep them: CloudFormation replaces a resource whose id changes. */
const FIRST_NAMES: Readonly<Partial<Record<FunctionName, string>>> = {
  'usage-key-authorizer': 'label-caller',
  'fallback-route': 'refuse-route',
  'openapi-document': 'describe-api',
};

/** The construct id of a function, which its logical ids begin with. */
export const constructIdOf = (functionName: FunctionName): string => FIRST_NAMES[functionName] ?? functionName;
