/** How API Gateway answers a body whose `Content-Encoding` it does not know, or that is not in it. */
export const CODING_MESSAGE = 'Omit Content-Encoding, or send gzip or deflate with a body encoded that way.';
