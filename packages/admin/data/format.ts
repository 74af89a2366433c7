/** The lines of a data file, besides those of the rows' kinds. `docs/data-format.md` describes the format for users. */
import { type Entity, identityOf as identityOfRow } from '../../../lib/ingest/kinds.ts';
import { type AppKeyIdentity, identityOfAppKey } from '../accounts/app-key-admin.ts';

/** The part of an `app_key` line's key that is stored. */
export function appKeyOf({ app_key, app_key_hash, last_digits }: Entity): AppKeyIdentity {
  if (app_key !== undefined) return identityOfAppKey(String(app_key));
  return { hash: String(app_key_hash), lastDigits: String(last_digits ?? '') };
}

/** Identifies an entity: two lines with the same identity are duplicates. */
export const identityOf = (entity: Entity): string =>
  entity.kind === 'app_key' ? `app_key ${appKeyOf(entity).hash}` : identityOfRow(entity);
