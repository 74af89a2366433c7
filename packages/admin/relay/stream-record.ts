import type { _Record } from '@aws-sdk/client-dynamodb-streams';
import type { DynamoDBRecord } from 'aws-lambda';

/** A stream record in the form in which Lambda gets it: JSON, with binary values in base64 and the time in seconds. */
export function streamRecord(record: _Record): DynamoDBRecord {
  const { ApproximateCreationDateTime: created, ...dynamodb } = record.dynamodb ?? {};
  const text = JSON.stringify({ ...record, dynamodb }, function asLambda(name, value) {
    const original = (this as Record<string, unknown>)[name];
    return original instanceof Uint8Array ? Buffer.from(original).toString('base64') : value;
  });
  const plain = JSON.parse(text) as DynamoDBRecord;
  // DynamoDB Local returns an empty map as a value without a type.
  for (const image of [plain.dynamodb?.NewImage ?? {}, plain.dynamodb?.OldImage ?? {}])
    for (const [name, value] of Object.entries(image))
      if (Object.keys(value).length === 0) Object.assign(image, { [name]: { M: {} } });
  if (created && plain.dynamodb) plain.dynamodb.ApproximateCreationDateTime = created.getTime() / 1000;
  return plain;
}
