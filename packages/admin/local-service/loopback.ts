/** Names of this machine, as the host of a URL. */
const NAMES = ['127.0.0.1', 'localhost', '[::1]'];

export const isLoopback = (hostname: string) => NAMES.includes(hostname);

/**
 * Whether the Host header of a request names this machine. Otherwise a page of another site, whose name resolves to
 * this machine, could read the answer.
 */
export const isLoopbackHost = (host: string | undefined, port: number | undefined) =>
  NAMES.some((name) => host === `${name}:${port}`);
