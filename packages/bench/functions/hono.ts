/** A peer of fleet browse: Hono on Lambda with Powertools' logger, whose route makes the same calls to DynamoDB as the bare handler. */
import { Logger } from '@aws-lambda-powertools/logger';
import { Hono } from 'hono';
import { handle, type LambdaContext } from 'hono/aws-lambda';
import { type Command, sendRounds } from './bare.ts';

const logger = new Logger({ serviceName: 'fleet' });
type Bindings = { event: { rounds: Command[][] }; lambdaContext: LambdaContext };
const app = new Hono<{ Bindings: Bindings }>();

app.post('/monit/servicemap/fleet', async (c) => {
  const began = Date.now();
  const { limit = 50 } = await c.req.json<{ limit?: number }>();
  const data = await sendRounds(c.env.event.rounds);
  logger.info('call', { limit, duration_ms: Date.now() - began, request_id: c.env.lambdaContext.awsRequestId });
  return c.json({ data });
});

app.onError((error, c) => {
  logger.error('call failed', error);
  return c.json({ error: { code: 'InternalError' } }, 500);
});

export const handler = handle(app);
