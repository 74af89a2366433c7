/** The one browser that may use the console. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';

const COOKIE = 'console';

export const secret = () => randomBytes(32).toString('base64url');
const digest = (text: string) => createHash('sha256').update(text).digest();
/** Compares texts in constant time. */
export const isSame = (a: string, b: string) => timingSafeEqual(digest(a), digest(b));

/** @param refuse answers a browser that is not signed in */
export function createSession(refuse: (context: Context) => Response | Promise<Response>) {
  let token: string | undefined = secret();
  const session = secret();
  // Browsers send a cookie to all ports of a host, but only to its path, which is secret: no other service gets it.
  const prefix = `/${secret()}`;
  const home = `${prefix}/`;
  const isSignedIn = (context: Context) => isSame(getCookie(context, COOKIE) ?? '', session);
  /** Signs in the first browser that has the token, and refuses all others. */
  const requireSession: MiddlewareHandler = async (context, next) => {
    context.header('Cache-Control', 'no-store');
    const sentToken = context.req.query('token');
    if (token !== undefined && sentToken !== undefined && isSame(sentToken, token)) {
      token = undefined;
      setCookie(context, COOKIE, session, { path: home, httpOnly: true, sameSite: 'Strict' });
      return context.redirect(home);
    }
    if (!isSignedIn(context)) return refuse(context);
    return sentToken === undefined ? next() : context.redirect(home);
  };
  return {
    /** The path of all pages. */
    prefix,
    /** Path and query by which one browser signs in. */
    signInPath: `${home}?token=${token}`,
    isSignedIn,
    requireSession,
    /** The base of a page's addresses. Callers who do not know the secret path do not learn it. */
    baseOf: ({ req }: Context) => (`${req.path}/`.startsWith(home) ? home : '/'),
  };
}
