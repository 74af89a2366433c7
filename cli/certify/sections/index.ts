/** The contract, section by section. */
import type { OperationName } from '../../../lib/api/operations.ts';
import type { Section } from '../sentence.ts';
import { authentication, events } from './authentication.ts';
import { browseFleet } from './browse-fleet.ts';
import { coverage } from './coverage.ts';
import { deleteWorkItem } from './delete-work-item.ts';
import { errors, versioning } from './errors.ts';
import { capability, fleetHost } from './fleet-host.ts';
import { limitsOf } from './limits.ts';
import { mergeAlerts } from './merge-alerts.ts';
import { general, overview } from './overview.ts';
import { readRum } from './read-rum.ts';
import { alertAndIncident, rumResource, workItem } from './records.ts';
import { states } from './states.ts';

/** The section of each operation: none may be missing. */
const OPERATIONS: Readonly<Record<OperationName, Section>> = {
  'browse-fleet': browseFleet,
  'get-rum-resource': readRum,
  'delete-work-item': deleteWorkItem,
  'merge-alerts': mergeAlerts,
};

export const SECTIONS: readonly Section[] = [
  overview,
  fleetHost,
  capability,
  coverage,
  rumResource,
  workItem,
  alertAndIncident,
  states,
  general,
  ...Object.values(OPERATIONS),
  authentication,
  events,
  errors,
  limitsOf(browseFleet, mergeAlerts),
  versioning,
];
