/**
 * The configuration of a client of AWS other than DynamoDB's. Without time limits the SDK would wait forever; with
 * these a call ends after three attempts, half a minute in all.
 * @param region undefined: from the environment
 */
export const clientConfig = (region: string | undefined, requestTimeout = 10_000) => ({
  ...(region && { region }),
  requestHandler: { connectionTimeout: 3_000, requestTimeout, throwOnRequestTimeout: true },
});
