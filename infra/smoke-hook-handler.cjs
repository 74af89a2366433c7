/**
 * Deployed unbundled, with the AWS SDK of Lambda's runtime. The call has an app key that does not exist: to answer 401, the version must
 * start, read its settings and read the table. 503 counts as success, too: a table that is down must not stop the rollout of a fix.
 */
const { CodeDeployClient, PutLifecycleEventHookExecutionStatusCommand } = require('@aws-sdk/client-codedeploy');
const { InvokeCommand, LambdaClient } = require('@aws-sdk/client-lambda');

const { VERSION, METHOD, RESOURCE } = process.env;
const query = { app_key: 'smoke-call-with-a-key-that-nobody-has' };
const event = {
  resource: RESOURCE,
  path: RESOURCE,
  httpMethod: METHOD,
  headers: { 'Content-Type': 'application/json' },
  multiValueHeaders: { 'Content-Type': ['application/json'] },
  queryStringParameters: query,
  multiValueQueryStringParameters: { app_key: [query.app_key] },
  pathParameters: null,
  stageVariables: null,
  requestContext: { requestId: 'smoke' },
  body: '{}',
  isBase64Encoded: false,
};

async function works() {
  try {
    const command = new InvokeCommand({ FunctionName: VERSION, Payload: JSON.stringify(event) });
    const { FunctionError, Payload } = await new LambdaClient().send(command);
    const { statusCode, body } = JSON.parse(Buffer.from(Payload).toString());
    console.log({ version: VERSION, FunctionError, statusCode, body });
    return statusCode === 401 || statusCode === 503;
  } catch (error) {
    console.error({ version: VERSION, error_name: error.name, error_message: error.message });
    return false;
  }
}

exports.handler = async ({ DeploymentId, LifecycleEventHookExecutionId }) => {
  const status = (await works()) ? 'Succeeded' : 'Failed';
  const ids = { deploymentId: DeploymentId, lifecycleEventHookExecutionId: LifecycleEventHookExecutionId };
  await new CodeDeployClient().send(new PutLifecycleEventHookExecutionStatusCommand({ ...ids, status }));
};
