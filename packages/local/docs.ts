/** The reference page of the local gateway: Swagger UI from its package, nothing from elsewhere, calls against this service. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

export interface Page {
  status: number;
  headers: Record<string, string>;
  body: Buffer | string;
}

const require = createRequire(import.meta.url);
/** By path, with their types. A map: a path is any text. */
const FILES = new Map([
  ['/docs/swagger-ui.css', 'text/css'],
  ['/docs/swagger-ui-bundle.js', 'text/javascript'],
]);

/**
 * JSON text, indented, its numbers as they were written; text that is no JSON undefined. Where the browser does not tell
 * a number's own text (before Chrome 114, Firefox 135, Safari 18.4) it is left as it came. It runs in the page.
 */
export function exactJson(text: unknown): string | undefined {
  // Newer than the type library.
  const { parse, rawJSON, stringify } = JSON as unknown as {
    parse(text: string, reviver: (key: string, value: unknown, context?: { source: string }) => unknown): unknown;
    rawJSON?(text: string): unknown;
    stringify(value: unknown, replacer: null, indent: number): string;
  };
  if (typeof text !== 'string') return undefined;
  try {
    const value = parse(text, (_key, one, context) =>
      typeof one === 'number' && rawJSON && context ? rawJSON(context.source) : one,
    );
    return rawJSON ? stringify(value, null, 2) : text;
  } catch {
    return undefined;
  }
}

const html = (appKey: string | undefined) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Incident, monitoring and RUM service</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script>
${exactJson}
// Swagger UI parses an answer to indent it, which would round integers beyond 2^53.
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
// Of the description it would round bounds, too: as text they are left out, and the field's description has them.
const keepBounds = (response) => {
  if (response.url.endsWith('/openapi.json') && typeof response.text === 'string')
    response.text = response.text.replace(/:\\s*(-?\\d{16,})(?=[,}\\s])/g, ': "$1"');
  return response;
};
const ui = SwaggerUIBundle({
  plugins: [showExactly],
  responseInterceptor: keepBounds,
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

/** @param appKey filled in for the calls of the page; absent: the reader gives one */
export function createDocs(appKey: string | undefined): (path: string, accept?: string) => Page | undefined {
  return (path, accept) => {
    // A person who opens the address of the service; its callers ask for JSON.
    if (path === '/' && accept?.includes('text/html')) return { status: 302, headers: { Location: '/docs' }, body: '' };
    const page = (type: string, body: Buffer | string) => ({ status: 200, headers: { 'Content-Type': type }, body });
    if (path === '/docs' || path === '/docs/') return page('text/html; charset=utf-8', html(appKey));
    const type = FILES.get(path);
    if (type === undefined) return undefined;
    return page(type, readFileSync(require.resolve(`swagger-ui-dist/${path.slice('/docs/'.length)}`)));
  };
}
