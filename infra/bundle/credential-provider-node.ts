/** A function's credentials are in its environment. Left out: SSO, STS, profiles, processes, containers, instance metadata. */
import { fromEnv } from '@aws-sdk/credential-provider-env';

export const defaultProvider = fromEnv;
