/** The requirements of the contract are data: define-tests.ts turns each into a test. */
import type { ApiClient } from './api-client.ts';
import type { OperationContract } from './contract.ts';
import type { DataSet } from './data.ts';

/** Calls the service and asserts what it answers. */
export type Check = (api: ApiClient) => Promise<unknown>;

export type Requirement =
  | Check
  /** Runs last, since it leaves the other checks no calls. */
  | { readonly usesUpRateLimit: Check }
  /** No call can check it, for this reason. */
  | { readonly todo: string };

/** The requirements of a section by title. The titles paraphrase the contract; their order gives the numbers. */
export type Requirements = Readonly<Record<string, Requirement>>;

/** An operation, and its section of the certificate, whose heading begins with its number. */
export interface OperationSection extends OperationContract {
  readonly heading: `4.${number} ${string}`;
  readonly requirements: Requirements;
}

export const todo = (reason: string) => ({ todo: reason });

export const NOT_SPECIFIED = 'the contract leaves it open; docs/decisions.md says what this service does';

/** Runs checks one after another. */
export const all =
  (...checks: Check[]): Check =>
  async (api) => {
    for (const check of checks) await check(api);
  };

/** A check that needs the imported data set. */
export const withData =
  (check: (api: ApiClient, dataSet: DataSet) => Promise<unknown>): Check =>
  async (api) =>
    check(api, api.need('dataSet'));
