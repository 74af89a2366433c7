/** DynamoDB as an operator with the policy of the synthesized template meets it. */
import { inject } from 'vitest';
import { jsonAnswer, startDynamoDbProxy } from '../../../local/dynamodb-proxy.ts';
import { resourcesOf } from '../../../local/template.ts';

interface Statement {
  Effect: 'Allow' | 'Deny';
  Action: string | string[];
  Resource: unknown;
  Condition?: Record<string, Record<string, string[] | string>>;
}

/** The statements of the policy about a service. */
function statements(service: string): Statement[] {
  const policies = Object.entries(resourcesOf(inject('template'), 'AWS::IAM::ManagedPolicy'));
  const [, policy] = policies.find(([id]) => id.startsWith('Operator')) ?? [];
  const all: Statement[] = policy?.Properties.PolicyDocument.Statement;
  return all.filter(({ Action }) => [Action].flat().some((action) => action.startsWith(`${service}:`)));
}

const isLike = (text: string, pattern: string) =>
  RegExp(`^${pattern.split('*').map(RegExp.escape).join('.*')}$`).test(text);

/** What a request is about. */
interface Request {
  action: string;
  leadingKey?: string | undefined;
  /** Absent: the table itself. */
  index?: string | undefined;
}

/** Whether a statement is about a request. */
function concerns({ Action, Resource, Condition = {} }: Statement, { action, leadingKey, index }: Request): boolean {
  if (![Action].flat().includes(`dynamodb:${action}`)) return false;
  const [, ofIndex] = /\/index\/([\w-]+)/.exec(JSON.stringify(Resource)) ?? [];
  if (ofIndex !== index) return false;
  return Object.entries(Condition).every(([operator, { 'dynamodb:LeadingKeys': patterns = [], ...others }]) => {
    // The only condition that the policy has; IAM does not apply it to a request without keys.
    if (operator !== 'ForAnyValue:StringLike' || Object.keys(others).length > 0)
      throw new Error(`unknown: ${operator}`);
    return leadingKey !== undefined && [patterns].flat().some((pattern) => isLike(leadingKey, pattern));
  });
}

const effectsOf = (request: Request) =>
  statements('dynamodb')
    .filter((statement) => concerns(statement, request))
    .map(({ Effect }) => Effect);

/** Whether the policy denies an action, also to whom another policy allows it. */
export const isDenied = (action: string, leadingKey?: string) => effectsOf({ action, leadingKey }).includes('Deny');

/** Whether the policy allows an action. Source: IAM User Guide, "Policy evaluation logic": a `Deny` overrides each `Allow`. */
export const isAllowed = (action: string, leadingKey?: string, index?: string) => {
  const effects = effectsOf({ action, leadingKey, index });
  return effects.includes('Allow') && !effects.includes('Deny');
};

/** Whether the policy allows a call to API Gateway, as of the usage plan `plan`. */
export const isGatewayAllowed = (method: string, path: string) =>
  statements('apigateway').some(({ Action, Resource }) => {
    const paths = JSON.stringify(Resource)
      .replaceAll(/",\{"Ref":"\w*AccountPlan\w*"\},"/g, 'plan')
      .matchAll(/::(\/[^"]*)"/g);
    return (
      [Action].flat().includes(`apigateway:${method}`) && [...paths].some(([, pattern = '']) => isLike(path, pattern))
    );
  });

type Keyed = { Key?: { pk: { S: string } }; Item?: { pk: { S: string } }; IndexName?: string };

/** The actions that IAM evaluates for a call: those of a transaction, one by one. */
function* actionsOf(action: string, body: string): Generator<Parameters<typeof isAllowed>> {
  const input = JSON.parse(body) as Keyed & { TransactItems?: Record<string, Keyed>[] };
  if (action === 'TransactWriteItems')
    for (const item of input.TransactItems ?? [])
      for (const [verb, { Key, Item }] of Object.entries(item)) yield [`${verb}Item`, (Key ?? Item)?.pk.S];
  else yield [action, (input.Key ?? input.Item)?.pk.S, input.IndexName];
}

/** DynamoDB's answer to a call that is not allowed, which no retry changes. */
export const accessDenied = (message: string) =>
  jsonAnswer(400, { __type: 'com.amazon.coral.service#AccessDeniedException', message });

/** Starts a proxy to DynamoDB that refuses what the policy does not allow. */
export const startAsOperator = (target: string) =>
  startDynamoDbProxy(target, async ({ action, body }, send) => {
    const refused = [...actionsOf(action, body.toString())].find((each) => !isAllowed(...each));
    return refused ? accessDenied(`not authorized: ${refused}`) : send();
  });
