import { paginateScan, type ScanCommandInput } from '@aws-sdk/lib-dynamodb';
import { optionsOf } from '../../../lib/aws/http-handler.ts';
import type { Table } from '../../../lib/table/client.ts';
import { type Expression, expressionsOf, projection } from '../../../lib/table/expression.ts';

/** Scans a table, strongly consistent, a page at a time. @param segment if it is one of several scans that share the table */
export const scanPages = (
  { client, name, signal }: Table,
  filter: Expression,
  attributes: readonly string[],
  segment: Pick<ScanCommandInput, 'Segment' | 'TotalSegments'> = {},
) =>
  paginateScan(
    { client },
    {
      TableName: name,
      ConsistentRead: true,
      ...segment,
      ...expressionsOf({ FilterExpression: filter, ProjectionExpression: projection(attributes) }),
    },
    optionsOf(signal),
  );
