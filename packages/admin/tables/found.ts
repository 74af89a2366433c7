/** How operators see what an id names. */
import type { Found } from '../find/find.ts';
import type { Listing } from '../text/table.ts';

export const FOUND: Listing<Found> = {
  columns: [
    { title: 'id', of: ({ id: text, account, page }) => ({ text, account, ...page }) },
    { title: 'kind', of: ({ kind }) => kind.replaceAll('_', ' ') },
    { title: 'account', of: ({ account, accountName }) => `${account} (${accountName})` },
    { title: 'what', of: 'detail' },
    { title: 'how to show it', of: ({ command: { words: command, idArgument: last } }) => ({ command, last }) },
  ],
  none: '',
};
