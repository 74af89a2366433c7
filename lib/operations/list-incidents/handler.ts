import type { Deps } from '../../deps.ts';
import type { Handler, RequestOf } from '../../http/operation.ts';
import { createListHandler, spanErrors } from '../list-pages.ts';
import { readIncidents } from './read-incidents.ts';
import { listIncidents } from './schema.ts';
import validate from './validate-list-incidents.ts';

const check = (body: RequestOf<typeof listIncidents>) => spanErrors(body, listIncidents.request);

export const createHandler = (deps: Deps): Handler =>
  createListHandler(listIncidents, { validate, check, read: readIncidents }, deps);
