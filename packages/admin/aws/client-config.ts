/**
 * The configuration of an AWS client other than DynamoDB's. Without time limits the SDK waits forever, so a call ends after three attempts,
 * half a minute in all.
 * @param region undefined: from the environment
 */
export const clientConfig = (region: string | undefined, requestTimeout = 10_000) => ({
  ...(region && { region }),
  requestHandler: { connectionTimeout: 3_000, requestTimeout, throwOnRequestTimeout: true },
});
