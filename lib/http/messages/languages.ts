// Generated from the files of this folder by `npm run generate`: do not edit.
import type { Catalog, Catalogs } from './catalog.ts';
import * as de from './de.ts';
import * as en from './en.ts';
import * as zhCn from './zh-cn.ts';

export const CATALOGS: Catalogs<Catalog> = [en.catalog, de.catalog, zhCn.catalog];
export const ROUTE_CATALOGS: Catalogs = [en.routes, de.routes, zhCn.routes];
