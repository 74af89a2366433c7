/** The function ingest-records in a process of its own. It answers each batch of messages with what the batch cost. */

import type { SQSEvent } from 'aws-lambda';
import { createDeps } from '../../../lib/deps.ts';
import { createIngestRecords } from '../../../lib/ingest/ingest.ts';
import { connectQueues } from '../../../lib/ingest/queues.ts';
import type { RecordCounts } from '../../../lib/shared/log.ts';

/** What a batch came to. */
export interface Outcome {
  counts: Pick<RecordCounts, 'refused' | 'failed'>;
  failed: number;
  /** Of the process so far. */
  peakMb: number;
}

const { QUEUES_URL = '' } = process.env;
const counts: RecordCounts[] = [];
const deps = await createDeps({ connections: 1, patient: true });
const metrics = { ...deps.metrics, records: (more: RecordCounts) => void counts.push(more) };
const ingest = createIngestRecords({ ...deps, metrics }, connectQueues(QUEUES_URL, QUEUES_URL));
process.on('message', async (event: SQSEvent) => {
  const { batchItemFailures } = await ingest(event, { getRemainingTimeInMillis: () => 600_000 });
  const sum = (name: keyof RecordCounts) => counts.reduce((total, more) => total + more[name], 0);
  const outcome: Outcome = {
    counts: { refused: sum('refused'), failed: sum('failed') },
    failed: batchItemFailures.length,
    peakMb: process.resourceUsage().maxRSS / 1_024,
  };
  counts.length = 0;
  process.send?.(outcome);
});
process.send?.('ready');
