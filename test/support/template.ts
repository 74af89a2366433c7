import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { GRANTS } from '../../infra/grants.ts';
import { ServiceStack } from '../../infra/stack.ts';

/** The stack as it is synthesized, without the bundles of its functions. */
export function synthesize(context: Record<string, unknown> = {}): Template {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [], ...context } });
  return Template.fromStack(new ServiceStack(app, 'Test'));
}

export interface Resource {
  Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a template holds whatever CloudFormation takes
  Properties: any;
  [attribute: string]: unknown;
}

/** All resources of a type, by their logical ids. */
export const resourcesOf = (template: Template, type: string): Record<string, Resource> =>
  template.findResources(type) as Record<string, Resource>;

/** The path of every method of the API, such as `POST /alert/merge`. */
export function routesOf(template: Template): Map<string, Resource> {
  const resources = resourcesOf(template, 'AWS::ApiGateway::Resource');
  const pathOf = (id: unknown): string => {
    const ref = (id as { Ref?: string }).Ref;
    const resource = ref === undefined ? undefined : resources[ref];
    return resource
      ? `${pathOf(resource.Properties.ParentId).replace(/\/$/, '')}/${resource.Properties.PathPart}`
      : '/';
  };
  return new Map(
    Object.values(resourcesOf(template, 'AWS::ApiGateway::Method')).map((method) => [
      `${method.Properties.HttpMethod} ${pathOf(method.Properties.ResourceId)}`,
      method,
    ]),
  );
}

/** Logical id of the function that a method calls. */
export function functionOf(method: Resource): string {
  const found = /"Fn::GetAtt":\["(\w+)","Arn"\]/.exec(JSON.stringify(method.Properties.Integration.Uri));
  return found?.[1] ?? '';
}

/** The functions of the service by their names, which their logical ids begin with. */
export function functionsOf(template: Template): Map<string, Resource & { id: string }> {
  const names = Object.keys(GRANTS);
  return new Map(
    Object.entries(resourcesOf(template, 'AWS::Lambda::Function')).map(([id, resource]) => [
      names.find((name) => id.startsWith(`${name.replaceAll('-', '')}Function`)) ?? id,
      { ...resource, id },
    ]),
  );
}
