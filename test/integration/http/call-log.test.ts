/** The log line and the metric of each call, which operators and alarms read. */
import { expect, it } from 'vitest';
import { hashAppKey } from '../../../lib/http/app-keys.ts';
import { getRumResource } from '../../../lib/operations/get-rum-resource/schema.ts';
import { keys } from '../../../lib/table/keys.ts';
import { newCaller, RUM_RECORD } from '../../support/accounts.ts';
import { aroundCalls } from '../../support/faults.ts';
import {
  connectAgain,
  type EventOptions,
  eventFor,
  handlersOver,
  invokeAlone,
  newTable,
  put,
  testDeps,
} from '../../support/service.ts';

const table = await newTable();

const ACCOUNT = 9_007_199_254_740_993n;

it.each<[string, EventOptions, { caller: boolean; tableCalls: number }]>([
  ['OK', {}, { caller: true, tableCalls: 2 }],
  ['InvalidParameter', { body: { no_cache: 1 } }, { caller: true, tableCalls: 1 }],
  ['Unauthorized', { appKey: 'unknown' }, { caller: false, tableCalls: 1 }],
  ['InternalError', {}, { caller: true, tableCalls: 2 }],
  ['ServiceUnavailable', {}, { caller: true, tableCalls: 2 }],
])(
  'a call that ends with %s has one log line and one count, with its caller and its duration',
  async (code, options, expected) => {
    const { appKey } = await newCaller(table, { account_id: ACCOUNT });
    await put(table, keys.rumResource(ACCOUNT), RUM_RECORD);
    const connection = connectAgain(table);
    const clock = { now: 2_050_000_000_000 };
    const deps = testDeps(connection, { now: () => clock.now });
    aroundCalls(connection, async ({ command }, send) => {
      clock.now += 21;
      if (command.startsWith('Query') && code === 'InternalError') throw new TypeError('a bug of ours');
      if (command.startsWith('Query') && code === 'ServiceUnavailable')
        throw Object.assign(new Error(), { name: 'TimeoutError' });
      await send();
    });
    const event = eventFor(getRumResource, { appKey, body: {}, ...options });
    Object.assign(event.requestContext, { extendedRequestId: 'extended' });
    const answer = await invokeAlone(handlersOver(deps).getRumResource, event);
    const operation = 'get-rum-resource';
    const duration_ms = 21 * expected.tableCalls;
    expect(deps.log.lines.filter(({ message }) => message === 'call')).toEqual([
      {
        level: 'info',
        message: 'call',
        fields: {
          ...{ operation, code, request_id: answer.body.request_id, extended_request_id: 'extended', duration_ms },
          ...(expected.caller && { account_id: '9007199254740993', app_key_id: hashAppKey(appKey).slice(0, 16) }),
        },
      },
    ]);
    expect(deps.metrics.calls).toEqual([{ operation, code, durationMs: duration_ms }]);
    expect(deps.metrics.events).toEqual([]);
  },
);
