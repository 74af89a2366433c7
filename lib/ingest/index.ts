/** What operations use of ingest: they check records, name what is refused, and send lines to the queue. */
export { MAX_RECORD_BYTES } from './limits.ts';
export { type Problem, reasonOf } from './problems.ts';
export type { IngestQueue } from './queues.ts';
export { lineOf } from './records.ts';
