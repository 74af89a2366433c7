import { appendFile } from 'node:fs/promises';
import type { OnEvent } from './destinations.ts';

/** Appends events to a file, each as a line of JSON, as EventBridge gives them to a rule's target. */
export const appendTo = (file: string): OnEvent => {
  return async ({ detail, ...event }) => {
    // As it is: parsed, its large integers would be rounded.
    await appendFile(file, `${JSON.stringify(event).slice(0, -1)},"detail":${detail}}\n`);
  };
};
