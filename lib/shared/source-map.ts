import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

const POSITION = /(file:\/\/\S+\.m?js):(\d+):(\d+)/;
const maps = new Map<string, SourceMap | undefined>();

/** The source map next to a bundled file; undefined if there is none, as when the sources run without a bundle. */
function mapOf(url: string): SourceMap | undefined {
  if (!maps.has(url))
    try {
      maps.set(url, new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, 'utf8'))));
    } catch {
      maps.set(url, undefined);
    }
  return maps.get(url);
}

/** The path of a source relative to the repository, wherever it is checked out. */
export const inRepository = (source: string): string =>
  source.replace(/^(?:.*?(?=node_modules\/)|.*\/(?=(?:lib|functions|infra)\/))/, '');

/**
 * Maps the frames of a stack to positions in the sources. It reads the map only when an error is logged: Node's own
 * `--enable-source-maps` reads it at every start, which makes a cold start a fifth longer.
 */
export const originalFrames = (frames: readonly string[]): string[] =>
  frames.map((frame) => {
    const [position, url = '', line, column] = POSITION.exec(frame) ?? [];
    const entry = position && mapOf(url)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (!entry || !('originalSource' in entry)) return frame;
    const source = inRepository(entry.originalSource);
    return frame.replace(POSITION, `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`);
  });
