/** `npm start -- --watch`: what is changed in the sources of functions is live at the next call. */
import { watch } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const FOLDERS = ['lib', 'functions'];
/** An editor writes a file in several steps. */
const SETTLED_MS = 20;

/**
 * Calls `load` with the sources that have changed, and tells what became of it.
 * @returns ends it
 */
export function watchSources(load: (files: URL[]) => Promise<void>, show: (text: string) => void): () => void {
  const changed = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  async function reload(): Promise<void> {
    const names = [...changed];
    changed.clear();
    const began = performance.now();
    await load(names.map((name) => pathToFileURL(root + name))).then(
      () => show(`Reloaded in ${Math.round(performance.now() - began)} ms: ${names.join(', ')}`),
      (error: unknown) => show(`Reload failed, the previous code still answers: ${whatIsWrong(error)}`),
    );
  }

  const watchers = FOLDERS.map((folder) =>
    watch(`${root}${folder}`, { recursive: true }, (_event, name) => {
      if (!name?.endsWith('.ts')) return;
      changed.add(`${folder}/${name}`);
      clearTimeout(timer);
      timer = setTimeout(reload, SETTLED_MS);
    }),
  );
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
}

/** File, line and message, without the modules of Node that found it. */
function whatIsWrong(error: unknown): string {
  const { stack = String(error) } = error as Error;
  const lines = stack.split('\n').filter((line) => !/^\s+at .*(node:|\(native)/.test(line));
  return lines
    .join('\n')
    .replaceAll(`file://${root}`, '')
    .replaceAll(root, '')
    .replaceAll(/#[\d.]+(?=:\d)/g, '');
}
