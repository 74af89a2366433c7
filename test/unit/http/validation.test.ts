import { expect, it } from 'vitest';
import { validateMiddleware } from '../../../lib/http/body.ts';
import { type ApiError, messageOf } from '../../../lib/http/errors.ts';
import { catalogFor } from '../../../lib/http/messages/index.ts';
import type { ApiRequest } from '../../../lib/http/operation.ts';
import { checkScanLimit } from '../../../lib/operations/browse-fleet/handler.ts';
import { browseFleet } from '../../../lib/operations/browse-fleet/schema.ts';
import validateBrowse from '../../../lib/operations/browse-fleet/validate-browse-fleet.ts';
import { deleteWorkItem } from '../../../lib/operations/delete-work-item/schema.ts';
import validateDelete from '../../../lib/operations/delete-work-item/validate-delete-work-item.ts';
import { listAlerts } from '../../../lib/operations/list-alerts/schema.ts';
import validateList from '../../../lib/operations/list-alerts/validate-list-alerts.ts';

const check = {
  browse: validateMiddleware(browseFleet, validateBrowse, checkScanLimit),
  alerts: validateMiddleware(listAlerts, validateList),
  delete: validateMiddleware(deleteWorkItem, validateDelete),
};

/** The message for a body; undefined when it passes. */
function messageFor(operation: keyof typeof check, body: object): string | undefined {
  try {
    check[operation].before?.({ event: { body } } as unknown as ApiRequest);
    return undefined;
  } catch (error) {
    return messageOf(catalogFor('en'), error as ApiError);
  }
}

const STATUS = 'one of active, degraded, stale, initializing, disabled, unsupported, no_data';
const HALF = '\ud800';

it.each<[keyof typeof check, body: object, message: string]>([
  // An invalid limit is not compared with scan_limit.
  ['browse', { limit: 1001, scan_limit: 100 }, 'limit must be an integer from 1 to 100.'],
  // Each of these items has two errors, and counts once.
  ['browse', { statuses: [5, 'stale', 6, 7] }, `statuses[0] (and 2 more) must be ${STATUS}.`],
  // Half of a surrogate pair is told if nothing else is wrong with the field.
  ['browse', { agent_versions: ['a', HALF] }, 'agent_versions[1] must be a string, in well-formed Unicode.'],
  ['browse', { agent_versions: [1, HALF] }, 'agent_versions[0] must be a string.'],
  [
    'browse',
    { limit: 5, scan_limit: 2, statuses: 5, cursor: [] },
    `cursor must be a string; statuses must be an array of at most 20 items, each ${STATUS}; ` +
      'scan_limit must be an integer from 5 (limit) to 2000.',
  ],
  [
    'alerts',
    { limit: 0, p: 2, ever_muted: true, orderby: '', channel_ids: [1], by_updated_at: false },
    'limit must be an integer from 1 to 100; p is not supported here: use search_after_ctx; ' +
      'channel_ids is not supported here: leave it out; ever_muted is not supported here: leave it out.',
  ],
  [
    'delete',
    {},
    'work_item_id is required and must be a string of 1 to 128 characters; ' +
      'version is required and must be an integer from 1 to 9223372036854775806.',
  ],
])('%s answers %o: %s', (operation, body, message) => expect(messageFor(operation, body)).toBe(message));
