/** The contract, section by section. */
import { readdirSync } from 'node:fs';
import { createValidate } from '../answers.ts';
import type { Contract } from '../api-client.ts';
import type { OperationSection, Requirements } from '../requirement.ts';
import { decisions } from './decisions.ts';
import { capability, coverage, fleetHost, states } from './fleet.ts';
import { authentication, endpoints, errors, events, overview, versioning } from './general.ts';
import { limits } from './limits.ts';
import { workItem } from './operations/delete-work-item.ts';
import { rumRecord } from './operations/get-rum-resource.ts';
import { alertAndIncident } from './operations/merge-alerts.ts';

/** The sections of the operations, each in a file of the operation's name. */
const ofOperations: readonly OperationSection[] = await Promise.all(
  readdirSync(new URL('operations', import.meta.url)).map(
    async (file) => (await import(`./operations/${file.replace(/\.ts$/, '')}.ts`)).section,
  ),
);
export const contract: Contract = { operations: ofOperations, validate: createValidate(ofOperations) };

/** Sections 1 to 9 have the numbers and headings of the contract. Section 10 has what the contract leaves open, and how its rules combine. */
const SECTIONS: Readonly<Record<string, Requirements>> = {
  '1 What the service does': overview,
  '2.1 Fleet host (ServiceMapFleetHost)': fleetHost,
  '2.2 Fleet host capability (servicemap object)': capability,
  '2.3 Fleet coverage (coverage)': coverage,
  '2.4 RUM resource record': rumRecord,
  '2.5 Work item': workItem,
  '2.6 Alert and incident (referenced by the merge operation)': alertAndIncident,
  '3 States and transitions': states,
  '4 Endpoints': endpoints,
  ...Object.fromEntries(
    ofOperations
      .toSorted((a, b) => a.heading.localeCompare(b.heading, 'en', { numeric: true }))
      .map(({ heading, requirements }) => [heading, requirements]),
  ),
  '5 Authentication': authentication,
  '6 Events': events,
  '7 Errors': errors,
  '8 Limits': limits,
  '9 Versioning': versioning,
  '10 What the contract leaves open, and how its rules combine': decisions,
};

/** All requirements, with their numbers: `4.1-7` is the seventh of section 4.1. */
const REQUIREMENTS = Object.entries(SECTIONS).flatMap(([section, requirements]) =>
  Object.entries(requirements).map(([title, requirement], index) => ({
    section,
    number: `${section.split(' ')[0]}-${index + 1}`,
    title,
    requirement,
  })),
);

/** @param only numbers of sections or requirements; absent: all */
export const requirementsOf = (only: readonly string[] | undefined) =>
  REQUIREMENTS.filter(
    ({ number }) => !only || only.some((wanted) => number === wanted || number.startsWith(`${wanted}-`)),
  );
