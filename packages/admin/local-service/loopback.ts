/** Host names of the local machine in a URL. */
const NAMES = ['127.0.0.1', 'localhost', '[::1]'];

export const isLoopback = (hostname: string) => NAMES.includes(hostname);

/**
 * Whether a request asks a local server by a name of this machine: a page elsewhere could otherwise read the answer, by a name of
 * its own that leads here.
 */
export const asksLoopback = (host: string | undefined, port: number | undefined) =>
  NAMES.some((name) => host === `${name}:${port}`);
