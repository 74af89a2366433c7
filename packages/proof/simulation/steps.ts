/** The steps that the scheduler may take. */
import type { Fault } from './faults.ts';
import type { Access } from './requests.ts';
import type { Call } from './run.ts';

export interface Step {
  /** The same in each run that took the same steps before. */
  readonly name: string;
  readonly process: string;
  readonly fault: Fault | undefined;
  /** Index of the row, or of the half of a batch, that the fault affects. */
  readonly part: number | undefined;
  /** Absent: the fault affects the process, not a call. */
  readonly call: Call | undefined;
  /** The process no longer waits for the call. */
  readonly late: boolean;
  readonly accesses: readonly Access[];
  /** It begins an operation, which then follows all that have ended. */
  readonly begins: boolean;
}

/** Faults that affect a call which the table does not execute, or not yet. */
const NOT_EXECUTED = new Set<Fault | undefined>([
  'gets no reply',
  'is throttled',
  'conflicts with another transaction',
  'is in progress',
]);

type StepOptions = Partial<Pick<Step, 'fault' | 'part' | 'late' | 'begins'>>;

export const stepOf = (call: Call, { fault, part, late = false, begins = false }: StepOptions): Step => ({
  name: [call.name, late ? 'arrives late' : fault, part].filter((each) => each !== undefined).join(' '),
  process: call.process,
  fault,
  part,
  call,
  late,
  accesses: NOT_EXECUTED.has(fault) ? [] : call.accesses,
  begins,
});

/** A fault that affects a process and none of its calls. */
export const processFault = (process: string, fault: Fault): Step => ({
  name: `${process} ${fault}`,
  process,
  fault,
  part: undefined,
  call: undefined,
  late: false,
  accesses: [],
  begins: false,
});

/** Whether it reads its rows at different moments, so that it may see a transaction in part. */
export const readsSeveral = ({ request }: Call) => request !== undefined && /^(Query|BatchGet|Scan)/.test(request.name);

/** The step with its reads as writes: only the first read of a late row sees it as it was, so the order of reads matters, too. */
export const asWriting = (step: Step): Step => ({
  ...step,
  accesses: step.accesses.map((access) => ({ ...access, write: true })),
});

export const isOn = ({ pk, sk }: Access, row: string) =>
  pk === undefined || (sk === undefined ? row.startsWith(`${pk}\n`) : row === `${pk}\n${sk}`);

export const haveRowInCommon = (some: readonly Access[], others: readonly Access[]) =>
  some.some((one) => others.some((other) => collide(one, other)));

function collide(one: Access, other: Access): boolean {
  if (!one.write && !other.write) return false;
  const meets = (a: string | undefined, b: string | undefined) => a === undefined || b === undefined || a === b;
  return meets(one.pk, other.pk) && meets(one.sk, other.sk);
}

/** A step for people: the request and its rows. */
export function describe({ name, fault, call }: Step): string {
  if (!call) return name;
  if (!call.request) return `${name} (resumes)`;
  const rows = call.accesses.map(({ pk = '*', sk = '*', write }) =>
    `${write ? 'write' : 'read'} ${pk} ${sk}`.replace(/0{8,}/g, '…'),
  );
  return `${fault ? `${call.name} ${fault}` : name}: ${call.request.name.replace('Command', '')} ${rows.join('; ')}`;
}
