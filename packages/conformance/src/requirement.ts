/** The requirements of the contract are data: contract.test.ts makes a test of each, and breaks.test.ts runs their checks on broken services. */
import type { ApiClient } from './api-client.ts';
import type { Entities } from './data.ts';

/** Calls the service and asserts what it answers. */
export type Check = (api: ApiClient) => Promise<unknown>;

export type Requirement =
  | Check
  /** Runs last where there is only one account, since it leaves no calls to the other checks. */
  | { readonly usesUpRateLimit: Check }
  /** No call can check it, for this reason. */
  | { readonly todo: string };

/** The requirements of a section by their titles, which are in our own words. Their order gives their numbers. */
export type Requirements = Readonly<Record<string, Requirement>>;

export const todo = (reason: string) => ({ todo: reason });

export const NOT_SPECIFIED = 'the contract leaves it open; docs/decisions.md says what this service does';

/** Makes checks one after the other. */
export const all =
  (...checks: Check[]): Check =>
  async (api) => {
    for (const check of checks) await check(api);
  };

/** A check that needs the imported data set. */
export const withData =
  (check: (api: ApiClient, entities: Entities) => Promise<unknown>): Check =>
  async (api) =>
    check(api, api.need('entities'));
