/**
 * Of a client of an AWS service besides DynamoDB. Without limits of time the SDK waits for ever: so a call ends after three
 * attempts, half a minute in all.
 * @param region undefined: as the environment says
 */
export const clientConfig = (region: string | undefined, requestTimeout = 10_000) => ({
  ...(region && { region }),
  requestHandler: { connectionTimeout: 3_000, requestTimeout, throwOnRequestTimeout: true },
});
