/** Options of the clients of queues, event bus and metrics. */
import { createHttpHandler, PATIENT } from './http-handler.ts';
import { createSigner } from './signer.ts';

/** Of a local server, which checks none. */
export const LOCAL_CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' } as const;

export interface Server {
  /** Absent: that of the environment. */
  readonly region?: string | undefined;
  /** A server in place of AWS; absent: AWS. */
  readonly endpoint?: string | undefined;
}

/** @param service its name in signatures @param config of the client that gets these options */
export const patientOptions = (
  service: string,
  config: Parameters<typeof createSigner>[0],
  { region, endpoint }: Server,
) => ({
  maxAttempts: PATIENT.maxAttempts,
  requestHandler: createHttpHandler(PATIENT.timeouts),
  signer: createSigner(config, service),
  ...(region && { region }),
  ...(endpoint && { endpoint, credentials: LOCAL_CREDENTIALS }),
});
