// Generated from the files of this folder by `npm run generate`: do not edit.
import type { Catalog } from '../errors.ts';
import { catalog as de } from './de.ts';
import { catalog as en } from './en.ts';
import { catalog as zhCn } from './zh-cn.ts';

/** The default first. */
export const CATALOGS: readonly [Catalog, ...Catalog[]] = [en, de, zhCn];
