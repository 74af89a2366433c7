/** The messages that relay sends. Their group is the account, so that the messages of one account, however many wait, delay no other's. */
import { messageText, type QueueMessage } from '../aws/sqs.ts';
import { type Key, parseKey } from '../table/keys.ts';
import type { ServiceEvent } from './event.ts';

/** The message for finish-merges. @param key of a large entry */
export const mergeMessage = (key: Key): QueueMessage => ({
  MessageBody: JSON.stringify(key),
  MessageGroupId: String(parseKey(key)?.account),
});

export const eventMessage = (event: ServiceEvent): QueueMessage => ({
  MessageBody: messageText(event),
  MessageGroupId: String(event.detail.account_id),
});
