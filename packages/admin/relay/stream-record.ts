import type { _Record } from '@aws-sdk/client-dynamodb-streams';
import type { DynamoDBRecord } from 'aws-lambda';

/** A stream record as Lambda passes it on: JSON, with binary values in base64 and the time in seconds. */
export function streamRecord(record: _Record): DynamoDBRecord {
  const { ApproximateCreationDateTime: created, ...dynamodb } = record.dynamodb ?? {};
  const text = JSON.stringify({ ...record, dynamodb }, function asLambda(name, value) {
    const own = (this as Record<string, unknown>)[name];
    return own instanceof Uint8Array ? Buffer.from(own).toString('base64') : value;
  });
  const plain = JSON.parse(text) as DynamoDBRecord;
  // DynamoDB Local writes an empty map like this, which is not a type of DynamoDB's.
  for (const [name, value] of Object.entries(plain.dynamodb?.NewImage ?? {}))
    if (Object.keys(value).length === 0) Object.assign(plain.dynamodb?.NewImage ?? {}, { [name]: { M: {} } });
  if (created && plain.dynamodb) plain.dynamodb.ApproximateCreationDateTime = created.getTime() / 1000;
  return plain;
}
