/** The reference page of the local gateway: Swagger UI from its package, nothing from elsewhere, calls against this service. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

export interface Page {
  type: string;
  body: Buffer;
}

const require = createRequire(import.meta.url);
/** By path, with their types. A map: a path is any text. */
const FILES = new Map([
  ['/docs/swagger-ui.css', 'text/css'],
  ['/docs/swagger-ui-bundle.js', 'text/javascript'],
]);

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
const ui = SwaggerUIBundle({
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
export function createDocs(appKey: string | undefined): (path: string) => Page | undefined {
  return (path) => {
    if (path === '/docs' || path === '/docs/')
      return { type: 'text/html; charset=utf-8', body: Buffer.from(html(appKey)) };
    const type = FILES.get(path);
    if (type === undefined) return undefined;
    return { type, body: readFileSync(require.resolve(`swagger-ui-dist/${path.slice('/docs/'.length)}`)) };
  };
}
