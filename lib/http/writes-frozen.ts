import type { Deps } from '../shared/deps.ts';
import { ApiError } from './errors.ts';

const RETRY_FROZEN_SECONDS = '60';

/** Refuses every call while writes are frozen. Operations that write have it as their last check. */
export const writesFrozenCheck =
  ({ settings }: Pick<Deps, 'settings'>) =>
  (): void => {
    if (settings.writesFrozen)
      throw new ApiError('ServiceUnavailable', undefined, { 'Retry-After': RETRY_FROZEN_SECONDS });
  };
