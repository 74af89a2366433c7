import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { data, refused } from '../answers.ts';
import { PATHS, RUM } from '../api-client.ts';
import { NOT_SPECIFIED, type Requirements, todo } from '../requirement.ts';
import { needsKey, needsPermission } from './common.ts';

export const authentication = {
  'Rule 1: every call carries the query parameter app_key': needsKey,
  'Rule 2: keys are issued from the console': todo('the console is not part of this API; `npm run admin` issues them'),
  'Rule 2: a key grants the access of its account': async (api) => {
    const { account_id } = data(await api.rum());
    if (api.environment.stored) expect(account_id).toBe(api.environment.stored.account);
    data(await api.page({ limit: 1 }));
  },
  'Rule 3: a missing app_key is 401 Unauthorized': needsKey,
  'Rule 3: an invalid app_key is 401 Unauthorized': async (api) => {
    const randomKey = randomBytes(32).toString('base64url');
    for (const path of PATHS) refused(await api.call(path, {}, { as: randomKey }), 'Unauthorized');
    for (const as of ['x'.repeat(300), `${api.environment.appKey}x`])
      refused(await api.call(RUM, {}, { as }), 'Unauthorized');
  },
  'Rule 3: an expired app_key is 401 Unauthorized': async (api) => {
    for (const path of PATHS) refused(await api.call(path, {}, { as: api.need('expired') }), 'Unauthorized');
  },
  'Rule 4: a caller without the permission is 403 AccessDenied': needsPermission,
  'Rule 5: browsing the fleet needs Targets Read (monit)': needsPermission,
  'Rule 6: permissions of the other three operations': todo(NOT_SPECIFIED),
} satisfies Requirements;

export const events = {
  'Events, webhooks and notifications; the shape of the merge feed entry': todo(NOT_SPECIFIED),
  'A merge records its comment on a feed entry': todo('shown in section 4.4'),
} satisfies Requirements;
