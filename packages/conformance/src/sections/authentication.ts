import { randomBytes } from 'node:crypto';
import { data, equal, refused } from '../expect.ts';
import { NOT_SHOWN, open, section, shown } from '../sentence.ts';
import { FLEET, PATHS, RUM } from '../trial.ts';

const randomKey = () => ({ appKey: randomBytes(32).toString('base64url') });

export const authentication = section('5', 'Authentication', [
  shown('Rule 1: every call carries the query parameter app_key', async (t) => {
    for (const path of PATHS) refused(await t.call(path, {}, { as: null }), 'Unauthorized');
    data(await t.page({ limit: 1 }));
  }),
  open('Rule 2: keys are issued from the console', 'the console is not part of this API; `npm run admin` issues them'),
  shown('Rule 2: a key grants the access of its account', async (t) => {
    const { account_id } = data(await t.rum());
    if (t.lab.stored) equal(account_id, t.lab.stored.account, 'account_id');
    data(await t.page({ limit: 1 }));
  }),
  shown('Rule 3: a missing app_key is 401 Unauthorized', async (t) => {
    refused(await t.call(RUM, {}, { as: null }), 'Unauthorized');
    refused(await t.call(RUM, {}, { as: { appKey: '' } }), 'Unauthorized');
  }),
  shown('Rule 3: an invalid app_key is 401 Unauthorized', async (t) => {
    for (const path of PATHS) refused(await t.call(path, {}, { as: randomKey() }), 'Unauthorized');
    refused(await t.call(RUM, {}, { as: { appKey: 'x'.repeat(300) } }), 'Unauthorized');
    refused(await t.call(RUM, {}, { as: { appKey: `${t.lab.main.appKey}x` } }), 'Unauthorized');
  }),
  shown('Rule 3: an expired app_key is 401 Unauthorized', async (t) => {
    for (const path of PATHS) refused(await t.call(path, {}, { as: t.need('expired') }), 'Unauthorized');
  }),
  shown('Rule 4: a caller without the permission is 403 AccessDenied', async (t) => {
    refused(await t.call(FLEET, {}, { as: t.need('otherAccount') }), 'AccessDenied');
  }),
  shown('Rule 5: browsing the fleet needs Targets Read (monit)', async (t) => {
    data(await t.page({ limit: 1 }));
    refused(await t.call(FLEET, { limit: 1 }, { as: t.need('otherAccount') }), 'AccessDenied');
  }),
  open('Rule 6: permissions of the other three operations', NOT_SHOWN),
]);

export const events = section('6', 'Events', [
  open('Events, webhooks and notifications; the shape of the merge feed entry', NOT_SHOWN),
  open('A merge records its comment on a feed entry', 'shown in section 4.4'),
]);
