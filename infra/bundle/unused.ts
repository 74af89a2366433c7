/** What the SDK imports and, as this service calls it, does not use. */
const unused = (): never => {
  throw new Error('this bundle lacks a part of the AWS SDK: see infra/bundle/aliases.ts');
};

class Unused {
  constructor() {
    unused();
  }
}

/** No operation of DynamoDB has an event stream. */
export { Unused as EventStreamSerde, unused as eventStreamSerdeProvider };

/** The client creates one, but asks it only for endpoint discovery, which is off. */
export class EndpointCache {
  get = unused;
}

/** Requests are signed by `lib/table/signer.ts`. */
export { Unused as SignatureV4 };

/** Requests are sent by `lib/table/http-handler.ts`, which reads each reply whole. */
export const NodeHttpHandler = { create: (handler: unknown) => handler ?? unused() };
export { unused as streamCollector };

/** For the middleware against recursion, which `lib/table/lean-path.ts` takes away. */
export const InvokeStore = { getInstanceAsync: unused };

/** No request sends a file. Node loads its file streams as soon as `ReadStream` is named, even to ask whether a body is one. */
export { Unused as ReadStream, unused as createReadStream, unused as fstatSync, unused as lstatSync };

/** A function has no configuration file: the SDK takes its settings from the environment, and the defaults. */
export const readFile = async () => unused();
