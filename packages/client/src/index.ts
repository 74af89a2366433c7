/** Client of the incident, monitoring and RUM service. */
export { type Client, createClient } from './client.ts';
export * from './client-errors.ts';
export { explainStatus } from './explain.ts';
export type { CallOptions, ClientEvent, ClientOptions, MergeOptions } from './options.ts';
export type * from './types.ts';
