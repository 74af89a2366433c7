/** The stack of the tree in TREE, as `infra/app.ts` makes it, without what the emulator cannot do. */
import { App, Aspects } from 'aws-cdk-lib';
import { breakDeployment, leaveOut } from './left-out.ts';

const { ServiceStack } = (await import(`${process.env.TREE}/infra/stack.ts`)) as typeof import('../../infra/stack.ts');
const app = new App();
const stack = new ServiceStack(app, app.node.tryGetContext('stackName') ?? 'IncidentMonitoringRum');
Aspects.of(stack).add(leaveOut);
if (app.node.tryGetContext('break') === 'true') breakDeployment(stack);
