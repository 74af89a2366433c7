/** The stack of the source tree at the path TREE, as `infra/app.ts` makes it, but without what the emulator does not support. */
import { App, Aspects } from 'aws-cdk-lib';
import { breakDeployment, leaveOut } from './left-out.ts';

const { ServiceStack } = (await import(`${process.env.TREE}/infra/stack.ts`)) as typeof import('../../infra/stack.ts');
const app = new App();
const stack = new ServiceStack(app, app.node.tryGetContext('stackName') ?? 'IncidentMonitoringRum');
Aspects.of(stack).add(leaveOut);
if (app.node.tryGetContext('break') === 'true') breakDeployment(stack);
