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
 * Whether a range of `Accept-Language` names this language: `zh` and `zh-Hans` name `zh-CN`, `en-GB` does not name `en`. Stricter than
 * {@link catalogFor}, and only for `*` (RFC 9110, 12.5.4): there `en-GB` finds `en`; here it does not exclude it from `*`.
 */
function isNamedBy(range: string, language: string): boolean {
  try {
    const [wanted, offered] = [new Intl.Locale(range), new Intl.Locale(language)];
    const { script } = offered.maximize();
    return (
      wanted.language === offered.language &&
      (wanted.script ?? script) === script &&
      (wanted.region ?? offered.region) === offered.region
    );
  } catch {
    return false;
  }
}

/** What `*` stands for: the first catalog whose language no range of the header names, not even with a q-value of 0. */
function firstUnnamed(acceptLanguage: string): Catalog | undefined {
  const ranges = new Set(acceptLanguage.split(',').map((range) => range.replace(/;.*/s, '').trim()));
  return CATALOGS.find(({ language }) => ![...ranges].some((range) => isNamedBy(range, language)));
}

/**
 * The catalog for an `Accept-Language` header, by its q-values; the default if none matches. Language and script must match, not the region,
 * so that `en-GB` finds `en`.
 */
export function catalogFor(acceptLanguage: string | undefined): Catalog {
  if (!acceptLanguage) return CATALOGS[0];
  // Each tag once: a header can repeat `*` 5,000 times, and each would be compared with all ranges of the header.
  for (const tag of new Set(preferredLanguages(acceptLanguage))) {
    const found = tag === '*' ? firstUnnamed(acceptLanguage) : CATALOGS_BY_SCRIPT.get(languageAndScript(tag));
    if (found) return found;
  }
  return CATALOGS[0];
}
