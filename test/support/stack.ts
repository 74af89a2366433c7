/** The stack's template for tests: each synthesized once, its references readable. */
import { expect } from 'vitest';
import { synthesize } from '../../packages/local/synthesize.ts';
import { type Resource, resourcesOf, type Template } from '../../packages/local/template.ts';

const templates = new Map<string, Template>();

/** The template with this context. All tests share it: none may change it. */
export function deployed(context: Readonly<Record<string, unknown>> = {}): Template {
  const name = JSON.stringify(context);
  const template = templates.get(name) ?? synthesize(context);
  templates.set(name, template);
  return template;
}

/** The beginning of a logical id that a person knows it by. */
export const shortId = (id: string): string => id.replace(/[0-9A-F]{8}$/, '');

/** Functions whose logical ids must stay those of the names that they were first deployed under. */
const FIRST_IDS: Readonly<Record<string, string>> = {
  'usage-key-authorizer': 'labelcaller',
  'fallback-route': 'refuseroute',
  'openapi-document': 'describeapi',
};

/** What the logical ids of a function's resources begin with. */
export const idOfFunction = (name: string): string => FIRST_IDS[name] ?? name.replaceAll('-', '');

/**
 * A value of the template with its references as text: `Table.Arn` is that attribute of the resource `Table…`, `Table` what a
 * `Ref` gives.
 */
// biome-ignore lint/suspicious/noExplicitAny: a template holds whatever CloudFormation takes
export function readable(value: unknown): any {
  if (Array.isArray(value)) return value.map(readable);
  if (typeof value !== 'object' || value === null) return value;
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': join } = value as Record<string, unknown>;
  if (typeof Ref === 'string') return shortId(Ref);
  if (Array.isArray(attribute)) return `${shortId(String(attribute[0]))}.${attribute[1]}`;
  if (Array.isArray(join)) return readable(join[1]).join(join[0]);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, readable(each)]));
}

/** The readable properties of all resources of a type, by the beginnings of their ids. */
// biome-ignore lint/suspicious/noExplicitAny: a template holds whatever CloudFormation takes
export function propertiesOf(type: string, template: Template): Record<string, any> {
  const found = Object.entries(resourcesOf(template, type));
  const byShortId = Object.fromEntries(found.map(([id, { Properties }]) => [shortId(id), readable(Properties ?? {})]));
  // None may hide another.
  expect(Object.keys(byShortId)).toHaveLength(found.length);
  return byShortId;
}

/** The one resource of a type. */
export function only(type: string, template: Template): Resource {
  const found = Object.values(resourcesOf(template, type));
  expect(found).toHaveLength(1);
  return found[0] as Resource;
}
