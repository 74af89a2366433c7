import { object, text } from '../../contract.ts';
import type { OperationSection } from '../../requirement.ts';
import { INTERNAL_ERROR, needsKey, RATE_LIMITED, refuses } from '../common.ts';

const PATH = '/list-incidents';

export const section: OperationSection = {
  heading: '4.9 Answer the text of list-incidents',
  path: PATH,
  data: object({ text }),
  requirements: {
    'text: required, 1 to 128 characters': refuses(PATH, 'text', [undefined, '', 7]),
    '401 Unauthorized': needsKey,
    '429 RequestTooFrequently': RATE_LIMITED,
    '500 InternalError': INTERNAL_ERROR,
  },
};
