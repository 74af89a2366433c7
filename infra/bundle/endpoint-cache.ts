/** The client makes one, and asks it only where endpoint discovery is enabled, which it is not. */
export class EndpointCache {
  get(): never {
    throw new Error('this bundle has no endpoint discovery: see infra/bundle/aliases.ts');
  }
}
