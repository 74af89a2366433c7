/** The client creates one, but uses it only for endpoint discovery, which is off. */
export class EndpointCache {
  get(): never {
    throw new Error('this bundle has no endpoint discovery: see infra/bundle/aliases.ts');
  }
}
