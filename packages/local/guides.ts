/** The guides of the local gateway, as pages: documents in Markdown, in which HTML has no meaning. */
import { readFileSync } from 'node:fs';
import createMarkdown from 'markdown-it';

interface Guide {
  readonly title: string;
  /** The document, from the folder of the project. */
  readonly file: string;
}

const GUIDES: ReadonlyMap<string, Guide> = new Map([
  ['/docs/guide', { title: 'Guide', file: 'docs/api.md' }],
  ['/docs/client', { title: 'Client', file: 'packages/client/README.md' }],
]);
/** Where what a document links to is served, by its path in the project. */
const SERVED: ReadonlyMap<string, string> = new Map([
  ...[...GUIDES].map(([path, { file }]) => [file, path] as const),
  ['openapi.json', '/openapi.json'],
]);

/** A page without scripts, which no page may frame. */
export const GUIDE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export const HEADER_STYLE = `
:root { color-scheme: light dark; }
body { margin: 0; }
header { background: #1f4e5f; font: 15px system-ui, sans-serif; }
nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; max-width: 1460px; margin: auto; padding: 1rem 20px; box-sizing: border-box; }
header, nav a { color: #fff; }
nav > :first-child { flex: 1 0 20rem; margin: 0; font-size: inherit; }`;

/** @param title the element of the name of the service: the heading of the page, or a link to the reference @param more HTML at its end */
export const headerOf = (title: 'h1' | 'a', more = '') => `<header><nav aria-label="Links">
<${title}${title === 'a' ? ' href="/docs"' : ''}>Incident, monitoring and RUM</${title}>
<a href="/docs/guide">Guide</a> <a href="/docs/client">Client</a> <a href="/openapi.json">OpenAPI</a>
</nav>${more}</header>`;

const markdown = createMarkdown();
const { rules } = markdown.renderer;
// Both may be wider than a phone, and then can be scrolled with the keyboard.
rules.table_open = () => '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>';
rules.table_close = () => '</table></div>';
rules.fence = (tokens, index) =>
  `<pre class="wide" tabindex="0"><code>${markdown.utils.escapeHtml(tokens[index]?.content ?? '')}</code></pre>`;

// Pictures are not served.
rules.image = (tokens, index) => markdown.utils.escapeHtml(tokens[index]?.content ?? '');

/** The id of a heading, as GitHub makes it, so that links within a document work. */
const slugOf = (text: string) =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

/** Where a link of a document leads: within the page, to a page that is served, or to another site; undefined: nowhere. */
function targetOf(href: string, file: string): string | undefined {
  if (/^(?:#|https?:)/.test(href)) return href;
  const { pathname, hash } = new URL(href, `file:///${file}`);
  const served = SERVED.get(pathname.slice(1));
  return served && served + hash;
}

/** The HTML of a document. Links to documents that are not served become text. */
function htmlOf({ file }: Guide): string {
  const tokens = markdown.parse(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'), {});
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') token.attrSet('id', slugOf(tokens[index + 1]?.content ?? ''));
    let isOpen = true;
    token.children = (token.children ?? []).filter((inner) => {
      if (inner.type === 'link_close') return isOpen;
      if (inner.type !== 'link_open') return true;
      const target = targetOf(String(inner.attrGet('href') ?? ''), file);
      isOpen = target !== undefined;
      if (target !== undefined) inner.attrSet('href', target);
      return isOpen;
    });
  }
  return markdown.renderer.render(tokens, markdown.options, {});
}

/** The page at a path; undefined: there is none. */
export function guidePage(path: string): string | undefined {
  const guide = GUIDES.get(path);
  return (
    guide &&
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${guide.title}: incident, monitoring and RUM service</title>
<link rel="icon" href="data:,">
<style>${HEADER_STYLE}
body { background: #fff; color: #222; }
main a { color: #1d5fa8; }
@media (prefers-color-scheme: dark) {
  body { background: #16191c; color: #e6e6e6; }
  main a { color: #8ab4f8; }
}
main { max-width: 50rem; margin: auto; padding: 0 20px 2rem; font: 16px/1.5 system-ui, sans-serif; }
.wide { overflow-x: auto; }
pre { padding: 0.75rem; border: 1px solid #888; font-size: 14px; }
table { border-collapse: collapse; }
td, th { border: 1px solid #888; padding: 0.25rem 0.5rem; text-align: left; }
code { overflow-wrap: anywhere; }
pre code { overflow-wrap: normal; }
</style>
</head>
<body>
${headerOf('a')}
<main>
${htmlOf(guide)}</main>
</body>
</html>
`
  );
}
