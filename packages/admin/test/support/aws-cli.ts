/** Checks commands of the AWS CLI against the SDK: their names and options are those of the API, in kebab-case. */
import * as apiGateway from '@aws-sdk/client-api-gateway';
import * as cloudformation from '@aws-sdk/client-cloudformation';
import * as dynamodb from '@aws-sdk/client-dynamodb';
import * as lambda from '@aws-sdk/client-lambda';
import * as sqs from '@aws-sdk/client-sqs';
import * as sts from '@aws-sdk/client-sts';

const SERVICES: Readonly<Record<string, object>> = {
  apigateway: apiGateway,
  cloudformation,
  dynamodb,
  lambda,
  sqs,
  sts,
};
const GLOBAL_OPTIONS = new Set(['query', 'output', 'region']);

/** A structure in the model of a service: kind, namespace, name, traits, names of its members, types of its members. */
type Structure = readonly [number, string, string, unknown, readonly string[], readonly unknown[]];

const pascal = (kebab: string) => kebab.replace(/(?:^|-)([a-z])/g, (_match, letter: string) => letter.toUpperCase());

/** What is wrong with a command, whose first word is `aws`; undefined: nothing. */
export function awsProblem([, service = '', command = '', ...rest]: readonly string[]): string | undefined {
  const model = SERVICES[service] as Record<string, unknown> | undefined;
  if (!model) return `no service ${service}`;
  const operation = pascal(command);
  if (!(`${operation}Command` in model)) return `no command ${command}`;
  const input = (model[`${operation}Input$`] ?? model[`${operation}Request$`]) as Structure | undefined;
  return input ? optionProblem(input, rest) : `the SDK has no input structure for ${command}`;
}

function optionProblem([, , , , members, types]: Structure, words: readonly string[]): string | undefined {
  for (let index = 0; index < words.length; index += 1) {
    const name = words[index] ?? '';
    if (!name.startsWith('--')) return `${name} is no option`;
    const hasValue = words[index + 1] !== undefined && !words[index + 1]?.startsWith('--');
    if (hasValue) index += 1;
    if (GLOBAL_OPTIONS.has(name.slice(2))) continue;
    const member = members.indexOf(pascal(name.slice(2).replace(/^no-/, '')));
    if (member < 0) return `no option ${name}`;
    // A nested structure is given as Member=value,…
    const type = types[member];
    const nested = typeof type === 'function' ? (type as () => Structure)() : undefined;
    for (const pair of nested ? (words[index] ?? '').split(',') : []) {
      const key = pair.split('=')[0] ?? '';
      if (!nested?.[4].includes(key)) return `${name} has no ${key}`;
    }
  }
  return undefined;
}
