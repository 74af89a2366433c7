// Imports only the language part of negotiator: the rest would be as large as the messages.
import preferredLanguages from 'negotiator/lib/language.js';
import type { Catalog } from '../errors.ts';
import { catalog as de } from './de.ts';
import { catalog as en } from './en.ts';
import { catalog as zhCn } from './zh-cn.ts';

/** The default first. */
export const CATALOGS: readonly [Catalog, ...Catalog[]] = [en, de, zhCn];

/** The language and the likely script of a tag: `zh-Hans` for `zh`, `zh-SG` and `zh-Hans-CN`, but not for `zh-TW`. */
function languageAndScript(tag: string): string | undefined {
  try {
    const { language, script } = new Intl.Locale(tag).maximize();
    return `${language}-${script}`;
  } catch {
    return undefined; // not a language tag
  }
}

const CATALOGS_BY_SCRIPT = new Map(CATALOGS.map((catalog) => [languageAndScript(catalog.language), catalog]));

/**
 * The catalog for an `Accept-Language` header, by its q-values; the default for `*`, and if none matches. Language and script must match, not
 * the region, so that `en-GB` finds `en`.
 */
export function catalogFor(acceptLanguage = ''): Catalog {
  // Each tag once: a header can repeat one 5,000 times.
  for (const tag of new Set(preferredLanguages(acceptLanguage))) {
    const found = tag === '*' ? CATALOGS[0] : CATALOGS_BY_SCRIPT.get(languageAndScript(tag));
    if (found) return found;
  }
  return CATALOGS[0];
}
