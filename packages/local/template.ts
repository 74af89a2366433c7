import { type FunctionName, GRANTS } from '../../infra/grants.ts';

export interface Resource {
  Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a template holds whatever CloudFormation takes
  Properties: any;
  [attribute: string]: unknown;
}

export interface Template {
  Resources: Record<string, Resource>;
  Outputs?: Record<string, { Value: { Ref?: string } }>;
}

/** All resources of a type, by their logical ids. */
export const resourcesOf = ({ Resources }: Template, type: string): Record<string, Resource> =>
  Object.fromEntries(Object.entries(Resources).filter(([, { Type }]) => Type === type));

/** All methods of the API by their routes, such as `POST /alert/merge`. */
export function routesOf(template: Template): Map<string, Resource> {
  const resources = resourcesOf(template, 'AWS::ApiGateway::Resource');
  const pathOf = (id: { Ref?: string }): string => {
    const resource = resources[id.Ref ?? ''];
    if (!resource) return '/';
    return `${pathOf(resource.Properties.ParentId).replace(/\/$/, '')}/${resource.Properties.PathPart}`;
  };
  return new Map(
    Object.values(resourcesOf(template, 'AWS::ApiGateway::Method')).map((method) => [
      `${method.Properties.HttpMethod} ${pathOf(method.Properties.ResourceId)}`,
      method,
    ]),
  );
}

/** Logical id of the function whose ARN is in an expression, such as the URI of an integration or an authorizer. */
export function functionIdOf(expression: unknown): string {
  return /"Fn::GetAtt":\["(\w+)","Arn"\]/.exec(JSON.stringify(expression))?.[1] ?? '';
}

export function functionsOf(template: Template): Map<string, Resource & { id: string }> {
  const names = Object.keys(GRANTS) as FunctionName[];
  return new Map(
    Object.entries(resourcesOf(template, 'AWS::Lambda::Function')).map(([id, resource]) => [
      names.find((name) => id.startsWith(`${name.replaceAll('-', '')}Function`)) ?? id,
      { ...resource, id },
    ]),
  );
}
