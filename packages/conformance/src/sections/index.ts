/** The contract, section by section. */
import { CliError } from '../../../admin/cli/io.ts';
import type { Section } from '../sentence.ts';
import { authentication, events } from './authentication.ts';
import { browseFleet } from './browse-fleet.ts';
import { combined } from './combined.ts';
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
  combined,
];

/** The sentences with their numbers, such as `4.1-7`: the seventh of section 4.1. @param only numbers of sections or sentences */
export function sentencesOf(only?: readonly string[]) {
  const chosen = SECTIONS.map((section) => ({
    section,
    sentences: section.sentences
      .map((sentence, index) => ({ number: `${section.number}-${index + 1}`, sentence }))
      .filter(({ number }) => !only || only.some((one) => number === one || number.startsWith(`${one}-`))),
  })).filter(({ sentences }) => sentences.length > 0);
  if (chosen.length === 0)
    throw new CliError(`No sentence has the number ${only?.join(' or ')}: pass numbers such as 4.1 or 8-2.`);
  return chosen;
}
