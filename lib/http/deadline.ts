import type { Deps } from '../shared/deps.ts';
import type { ApiMiddleware } from './call.ts';

/** Most time that counts as elapsed when the handler is called: its clock is not API Gateway's. */
const LONGEST_BEFORE_MS = 1_000;

/** Gives a call its signal: created on first use, since most calls do not need it. */
export const deadlineMiddleware = ({ now, timeLimits }: Pick<Deps, 'now' | 'timeLimits'>): ApiMiddleware => ({
  before({ event }) {
    const { call, requestContext } = event;
    const { startedMs } = call;
    const arrivedMs = requestContext?.requestTimeEpoch ?? startedMs;
    const countsFromMs = Math.min(startedMs, Math.max(arrivedMs, startedMs - LONGEST_BEFORE_MS));
    let signal: AbortSignal | undefined;
    event.call = {
      ...call,
      get signal() {
        signal ??= AbortSignal.timeout(Math.max(1, countsFromMs + timeLimits.callMs - now()));
        return signal;
      },
    };
  },
});
