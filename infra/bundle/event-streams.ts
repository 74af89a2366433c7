/** No operation of DynamoDB has an event stream. */
const unused = () => {
  throw new Error('this bundle has no event streams: see infra/bundle/aliases.ts');
};

export class EventStreamSerde {
  constructor() {
    unused();
  }
}
export const eventStreamSerdeProvider = unused;
