/**
 * The page of the local gateway: the API reference, which is Swagger UI from its npm package and calls this service. It
 * uses no external resources.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const swaggerUi = (file: string) => require.resolve(`swagger-ui-dist/${file}`);
/** Files by path. A map, since a path may be the name of an inherited property of objects, such as `constructor`. */
const FILES = new Map([
  ['/docs/swagger-ui.css', { type: 'text/css', file: swaggerUi('swagger-ui.css') }],
  ['/docs/swagger-ui-bundle.js', { type: 'text/javascript', file: swaggerUi('swagger-ui-bundle.js') }],
]);

/**
 * Indents JSON text and keeps its numbers as written; undefined for text that is not JSON. Browsers that do not pass a number's source text
 * (before Chrome 114, Firefox 135, Safari 18.4) get the text unchanged. This function runs in the page.
 */
export function exactJson(text: string): string | undefined {
  const { rawJSON } = JSON as { rawJSON?(text: string): unknown }; // missing in TypeScript's library
  function keepSource(_key: string, value: unknown, context?: { source: string }): unknown {
    return typeof value === 'number' && context ? rawJSON?.(context.source) : value;
  }
  try {
    const value = JSON.parse(text, keepSource);
    return rawJSON ? JSON.stringify(value, null, 2) : text;
  } catch {
    return undefined;
  }
}

/** Lets the page run its own scripts and call its own service, and lets no page frame it. Swagger UI sets styles on elements. */
const policyOf = (nonce: string) =>
  `default-src 'none'; script-src 'self' 'nonce-${nonce}'; style-src 'self' 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/**
 * @param appKey prefilled for calls from the page; absent: the reader enters one
 * @param nonce of the page's own script, for its policy
 */
export const docsPage = (appKey: string | undefined, nonce: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Incident, monitoring and RUM service</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<style>
:root { color-scheme: light dark; }
body { margin: 0; }
header { background: #1f4e5f; font: 15px system-ui, sans-serif; }
nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; max-width: 1460px; margin: auto; padding: 1rem 20px; box-sizing: border-box; }
header, nav a { color: #fff; }
nav > :first-child { flex: 1 0 20rem; margin: 0; font-size: inherit; }
/* The operations first, the general description last. */
.swagger-ui > div { display: flex; flex-direction: column; }
.swagger-ui .information-container { order: 1; }
.swagger-ui .information-container hgroup, .swagger-ui .scheme-container .servers-title, .swagger-ui .scheme-container .servers { display: none; }
.swagger-ui .scheme-container { padding: 12px 0; margin: 0; }
.unseen { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); }
/* Swagger UI's own colours have too little contrast. */
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #1a7f4e; }
.swagger-ui .btn.execute { background: #2a64b0; border-color: #2a64b0; }
.swagger-ui .btn.execute, .swagger-ui .opblock-summary-method { color: #fff; }
html:not(.dark-mode) .swagger-ui .btn.authorize, html:not(.dark-mode) .swagger-ui .btn.authorize span { color: #156b41; border-color: #156b41; }
html:not(.dark-mode) .swagger-ui :is(a, .link) { color: #1d5fa8; }
html:not(.dark-mode) .swagger-ui .btn.cancel { color: #b3261e; border-color: #b3261e; }
html:not(.dark-mode) .swagger-ui :is(.parameter__in, .parameter__deprecated) { color: #555; }
html.dark-mode .swagger-ui .btn.cancel { color: #ff9a9a !important; border-color: #ff9a9a !important; }
html.dark-mode .swagger-ui .headers td { color: #e4e6e6; }
.swagger-ui .microlight span[style*="211, 99, 99"] { color: #f2a3a3 !important; }
</style>
</head>
<body>
<header><nav aria-label="Links"><h1>Incident, monitoring and RUM</h1> <a href="/openapi.json">OpenAPI</a></nav><h2 class="unseen">Reference</h2></header>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script nonce="${nonce}">
const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();
${exactJson}
// Swagger UI parses an answer to indent it, which rounds integers beyond 2^53.
const showExactly = () => ({
  wrapComponents: {
    responseBody: (Original, { React, getComponent }) => (props) => {
      const text = exactJson(props.content);
      if (text === undefined) return React.createElement(Original, props);
      const code = React.createElement(getComponent('HighlightCode', true), { language: 'json', canCopy: true }, text);
      return React.createElement('div', null, React.createElement('h5', null, 'Response body'), code);
    },
  },
});
// Swagger UI also rounds large limits in the schemas, and omits limits that are strings. The description of the field states them anyway.
// It prefills a parameter with its example: here a new idempotency key for each visit.
const adapt = (response) => {
  if (response.url.endsWith('/openapi.json') && typeof response.text === 'string')
    response.text = response.text
      .replace(/:\\s*(-?\\d{16,})(?=[,}\\s])/g, ': "$1"')
      .replace(/"name":\\s*"Idempotency-Key",/, '$&"example":"' + crypto.randomUUID() + '",');
  return response;
};
// Swagger UI leaves these without names or outside of landmarks, and code that can be scrolled only with a mouse.
const attributes = [
  ['.information-container', 'role', 'region'],
  ['.information-container', 'aria-label', 'About the API'],
  ['.scheme-container', 'role', 'region'],
  ['.scheme-container', 'aria-label', 'Authorization'],
  ['.microlight', 'tabindex', '0'],
  ['.examples-select-element', 'aria-label', 'Example'],
  ['.body-param__text', 'aria-label', 'Request body'],
];
const complete = () => {
  for (const [selector, name, value] of attributes)
    for (const element of document.querySelectorAll('#reference ' + selector + ':not([' + name + '="' + value + '"])'))
      element.setAttribute(name, value);
};
new MutationObserver(complete).observe(document.getElementById('reference'), { childList: true, subtree: true });
const ui = SwaggerUIBundle({
  plugins: [showExactly],
  responseInterceptor: adapt,
  url: '/openapi.json',
  dom_id: '#reference',
  tryItOutEnabled: true,
  validatorUrl: null,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  onComplete: () => ${appKey === undefined ? 'undefined' : `ui.preauthorizeApiKey('appKey', ${JSON.stringify(appKey)})`},
});
</script>
</body>
</html>
`;

const HTML = { 'Content-Type': 'text/html; charset=utf-8' };

/** Answers a request for a page or what belongs to it. @returns whether it was such a request */
export function answerDocs(
  path: string,
  appKey: string | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  const file = FILES.get(path);
  // Browsers ask for HTML; API callers ask for JSON.
  if (path === '/' && request.headers.accept?.includes('text/html'))
    response.writeHead(302, { Location: '/docs' }).end();
  else if (path === '/docs' || path === '/docs/') {
    const nonce = randomBytes(16).toString('base64');
    const headers = { ...HTML, 'Content-Security-Policy': policyOf(nonce) };
    response.writeHead(200, headers).end(docsPage(appKey, nonce));
  } else if (file) response.writeHead(200, { 'Content-Type': file.type }).end(readFileSync(file.file));
  else return false;
  return true;
}
