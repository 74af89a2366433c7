import Negotiator from 'negotiator';
import type { ApiError, Explanation } from '../errors.ts';
import type { Catalog } from './catalog.ts';
import { en } from './en.ts';
import { zhCn } from './zh-cn.ts';

/** The first is the default. */
export const CATALOGS: readonly [Catalog, ...Catalog[]] = [en, zhCn];

/** Language and script, likely subtags filled in: `zh`, `zh-SG` and `zh-Hans-CN` are all `zh-Hans`; `zh-TW` is not. */
function written(tag: string): string | undefined {
  try {
    const { language, script } = new Intl.Locale(tag).maximize();
    return `${language}-${script}`;
  } catch {
    return undefined; // not a language tag
  }
}

/**
 * The catalogue that an `Accept-Language` header asks for, by its q-values; the default where nothing fits.
 * Matching is by language and script, so that a regional tag finds the language it is a form of.
 */
export function catalogFor(acceptLanguage: string | undefined): Catalog {
  if (!acceptLanguage) return CATALOGS[0];
  for (const tag of new Negotiator({ headers: { 'accept-language': acceptLanguage } }).languages()) {
    if (tag === '*') return CATALOGS[0];
    const wanted = written(tag);
    const found = wanted && CATALOGS.find(({ language }) => written(language) === wanted);
    if (found) return found;
  }
  return CATALOGS[0];
}

function explain<E extends Explanation>(catalog: Catalog, { name, values }: E): string {
  return (catalog.explain[name] as (given: E['values']) => string)(values);
}

/** The sentence that tells the caller what was wrong and what to do. */
export function messageOf(catalog: Catalog, error: Pick<ApiError, 'code' | 'explanation'>): string {
  return error.explanation ? explain(catalog, error.explanation) : catalog.codes[error.code];
}
