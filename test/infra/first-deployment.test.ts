/** What makes the first `cdk deploy` succeed, and an update take effect, by AWS's rules (docs/aws-behaviour.md). */
import { describe, expect, it } from 'vitest';
import { catalog as en } from '../../lib/http/messages/en.ts';
import { synthesize } from '../../packages/local/synthesize.ts';
import { resourcesOf, type Template } from '../../packages/local/template.ts';
import { deployed, only } from './stack.ts';

const template = deployed();
const idsOf = (type: string, inTemplate = template) => Object.keys(resourcesOf(inTemplate, type));

describe('access logs', () => {
  it('have the role that API Gateway needs before the stage is created', () => {
    const { CloudWatchRoleArn } = only('AWS::ApiGateway::Account', template).Properties;
    expect(idsOf('AWS::IAM::Role')).toContain(CloudWatchRoleArn['Fn::GetAtt'][0]);
    expect(only('AWS::ApiGateway::Stage', template).DependsOn).toEqual(idsOf('AWS::ApiGateway::Account'));
  });

  it('do not set that role with apiGatewayAccount=false', () => {
    expect(idsOf('AWS::ApiGateway::Account', deployed({ apiGatewayAccount: 'false' }))).toEqual([]);
  });
});

describe('a new deployment of the API', () => {
  const deploymentIn = (inTemplate: Template) => idsOf('AWS::ApiGateway::Deployment', inTemplate)[0];

  it('is made when a gateway response changes, and waits for all of them and the authorizer', () => {
    const { ServiceUnavailable } = en.codes;
    Object.assign(en.codes, { ServiceUnavailable: 'In other words.' });
    const changed = synthesize();
    Object.assign(en.codes, { ServiceUnavailable });
    expect(JSON.stringify(changed.Resources)).toContain('In other words.');
    expect(deploymentIn(changed)).not.toBe(deploymentIn(template));
    expect(deploymentIn(synthesize())).toBe(deploymentIn(template));
    expect(only('AWS::ApiGateway::Deployment', template).DependsOn).toEqual(
      expect.arrayContaining(['GatewayResponse', 'Authorizer'].flatMap((type) => idsOf(`AWS::ApiGateway::${type}`))),
    );
  });
});
