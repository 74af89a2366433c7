/** The steps that the scheduler may take. */
import type { Fault } from './faults.ts';
import type { Access } from './requests.ts';
import type { Call } from './run.ts';

export interface Step {
  /** The same in each run that took the same steps before. */
  readonly name: string;
  readonly process: string;
  readonly fault?: Fault | undefined;
  /** Index of the row, or of the half of a batch, that the fault affects. */
  readonly part?: number | undefined;
  /** Absent: the fault affects the process, not a call. */
  readonly call?: Call;
  /** The process no longer waits for the call. */
  readonly isLate?: true;
}

/** The execution of a call, with or without a fault. */
export const stepOf = (call: Call, fault?: Fault, part?: number): Step => ({
  name: [call.name, fault, part].filter((word) => word !== undefined).join(' '),
  process: call.process,
  fault,
  part,
  call,
});

export const lateArrival = (call: Call): Step => ({ ...stepOf(call), name: `${call.name} arrives late`, isLate: true });

/** A fault that affects a process and none of its calls. */
export const processFault = (process: string, fault: Fault): Step => ({ name: `${process} ${fault}`, process, fault });

/** Whether the call reads its rows at different moments, so that it may see a transaction in part. */
export const readsSeveral = ({ request }: Call) => request !== undefined && /^(Query|BatchGet|Scan)/.test(request.name);

/** Whether the row is one of those that are read or written. */
export const covers = ({ pk, sk }: Access, row: string) =>
  pk === undefined || (sk === undefined ? row.startsWith(`${pk}\n`) : row === `${pk}\n${sk}`);

/** Describes a step for people: its request, and the rows that this reads or writes. */
export function describe({ name, fault, call }: Step): string {
  if (!call) return name;
  if (!call.request) return `${name} (resumes)`;
  const rows = call.accesses.map(({ pk = '*', sk = '*', write }) =>
    `${write ? 'write' : 'read'} ${pk} ${sk}`.replace(/0{8,}/g, '…'),
  );
  return `${fault ? `${call.name} ${fault}` : name}: ${call.request.name.replace('Command', '')} ${rows.join('; ')}`;
}
