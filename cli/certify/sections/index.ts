/** The contract, section by section. */
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
  browseFleet,
  readRum,
  deleteWorkItem,
  mergeAlerts,
  authentication,
  events,
  errors,
  limitsOf(browseFleet, mergeAlerts),
  versioning,
];
