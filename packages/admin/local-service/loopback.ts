/** Names of this machine, as the host of a URL. */
const NAMES = ['127.0.0.1', 'localhost', '[::1]'];

export const isLoopback = (hostname: string) => NAMES.includes(hostname);

/**
 * Whether the Host header of a request names this machine, with any port: tunnels and proxies have their own. Otherwise a
 * page of another site, whose name resolves to this machine, could read the answer.
 */
export const isLoopbackHost = (host = '') => isLoopback(host.replace(/:\d*$/, ''));
