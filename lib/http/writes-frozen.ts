import type { Deps } from '../shared/deps.ts';
import { ApiError } from './errors.ts';

const RETRY_FROZEN_SECONDS = '60';

/** The last check of an operation that writes: refuses every call while writes are frozen. */
export const writesFrozenCheck =
  ({ settings }: Pick<Deps, 'settings'>) =>
  (): void => {
    if (settings.writesFrozen)
      throw new ApiError('ServiceUnavailable', undefined, { 'Retry-After': RETRY_FROZEN_SECONDS });
  };
