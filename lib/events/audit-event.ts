import type { Int64 } from '../shared/json.ts';

/**
 * The event that an operator's command publishes. The command stores it in the audit row of its transaction. An event contains no secret,
 * since its subscribers are not known.
 */
export type CommandEvent =
  | { readonly event: 'AccountSuspended' | 'AccountUnsuspended' }
  | { readonly event: 'AppKeyIssued' | 'AppKeyRevoked'; readonly event_detail: { readonly app_key_id: string } }
  | {
      readonly event: 'WorkItemRestored';
      readonly event_detail: { readonly work_item_id: string; readonly work_item_version: Int64 };
    };

/** The fields of an audit row from which its event is made. */
export interface AuditEventFields {
  readonly pk: string;
  readonly sk: string;
  readonly id: string;
  readonly at_ms: number;
  readonly by: string;
  readonly command: string;
  readonly result: string;
  readonly event?: CommandEvent['event'];
  readonly event_detail?: object;
}
