/** Ways to read the synthesized template. */
import { expect, inject } from 'vitest';
import { type Resource, resourcesOf, type Template } from '../../packages/local/template.ts';
import type { Variant } from './templates.ts';

/** The template with the default settings, or with those of a variant. Tests share it and must not change it. */
export const deployed = (variant?: Variant): Template => (variant ? inject('variants')[variant] : inject('template'));

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
  const found = Object.entries(resourcesOf(template, `AWS::${type}`));
  const byShortId = Object.fromEntries(found.map(([id, { Properties }]) => [shortId(id), readable(Properties ?? {})]));
  // No two have the same short id.
  expect(Object.keys(byShortId)).toHaveLength(found.length);
  return byShortId;
}

/** The only resource of a type, its properties readable. */
export function only(type: string, template: Template): Resource {
  const [found, ...more] = Object.values(resourcesOf(template, `AWS::${type}`));
  if (!found || more.length > 0) expect.fail(`not one ${type}`);
  return { ...found, Properties: readable(found.Properties ?? {}) };
}
