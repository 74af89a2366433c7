/** The stack, as `infra/app.ts` makes it, but without what the emulator does not support. */
import { App, Aspects } from 'aws-cdk-lib';
import { ServiceStack } from '../../infra/stack.ts';
import { breakDeployment, leaveOut } from './left-out.ts';

const app = new App();
const stack = new ServiceStack(app, app.node.tryGetContext('stackName') ?? 'IncidentMonitoringRum');
// The walk destroys its stacks.
stack.terminationProtection = false;
Aspects.of(stack).add(leaveOut);
if (app.node.tryGetContext('emulator:break') === 'true') breakDeployment(stack);
