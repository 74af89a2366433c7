/** The stack's templates for tests, each synthesized once, and ways to read them. */
import { expect } from 'vitest';
import { synthesize } from '../../packages/local/synthesize.ts';
import { type Resource, resourcesOf, type Template } from '../../packages/local/template.ts';

/** The routes of the contract's operations, and their functions. */
export const OPERATIONS = [
  ['POST /monit/servicemap/fleet', 'browse-fleet'],
  ['POST /rum/resource/info', 'get-rum-resource'],
  ['POST /incident/work-item/delete', 'delete-work-item'],
  ['POST /feed/alertmanager', 'send-notification'],
  ['POST /feed/records', 'send-records'],
  ['POST /alert/merge', 'merge-alerts'],
] as const;

const templates = new Map<string, Template>();

/** The template with this context. Tests share it and must not change it. */
export function deployed(context: Readonly<Record<string, unknown>> = {}): Template {
  const name = JSON.stringify(context);
  const template = templates.get(name) ?? synthesize(context);
  templates.set(name, template);
  return template;
}

/** A logical id without the hash at its end. */
export const shortId = (id: string): string => id.replace(/[0-9A-F]{8}$/, '');

/** What the logical ids of a function's resources begin with. */
export const idOfFunction = (name: string): string => name.replaceAll('-', '');

/**
 * A value of the template with its references as text: `Table` for a `Ref` to the resource `Table…`, `Table.Arn` for an attribute of it.
 */
// biome-ignore lint/suspicious/noExplicitAny: a template holds whatever CloudFormation takes
export function readable(value: unknown): any {
  if (Array.isArray(value)) return value.map(readable);
  if (typeof value !== 'object' || value === null) return value;
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': join, 'Fn::FindInMap': found } = value as Record<string, unknown>;
  if (typeof Ref === 'string') return shortId(Ref);
  if (Array.isArray(attribute)) return `${shortId(String(attribute[0]))}.${attribute[1]}`;
  if (Array.isArray(found)) return readable(found).join('.');
  if (Array.isArray(join)) return readable(join[1]).join(join[0]);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, readable(member)]));
}

/** The readable properties of all resources of a type, by their short ids. */
// biome-ignore lint/suspicious/noExplicitAny: a template holds whatever CloudFormation takes
export function propertiesOf(type: string, template: Template): Record<string, any> {
  const found = Object.entries(resourcesOf(template, type));
  const byShortId = Object.fromEntries(found.map(([id, { Properties }]) => [shortId(id), readable(Properties ?? {})]));
  // No two have the same short id.
  expect(Object.keys(byShortId)).toHaveLength(found.length);
  return byShortId;
}

/** The only resource of a type. */
export function only(type: string, template: Template): Resource {
  const found = Object.values(resourcesOf(template, type));
  expect(found).toHaveLength(1);
  return found[0] as Resource;
}
