/** Lines of the data format, as in a file for `admin import`. */
import { stringifyJson } from '../../../../lib/shared/json.ts';

export const lines = (...records: object[]) => records.map((record) => `${stringifyJson(record)}\n`).join('');

export const accountLine = (account_id: number, more: object = {}) => ({
  ...{ kind: 'account', account_id, name: 'Acme', permissions: ['monit'] },
  ...more,
});

export const itemLine = (account_id: number, more: object = {}) => ({
  ...{ kind: 'work_item', account_id, work_item_id: 'w', version: 1, title: 't' },
  ...more,
});
