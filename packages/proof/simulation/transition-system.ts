/** Processes under a scheduler, which executes their calls to the table one at a time. States are immutable: a step makes a new one. */
import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import type { Operation } from './environment.ts';
import { type Fault, halvesOf, mayFail, refusal } from './faults.ts';
import {
  type Actor,
  type Call,
  type Delivery,
  type Effect,
  outcomeOf,
  type Position,
  type Reaction,
  Recorder,
} from './recorder.ts';
import { type Access, type Request, type Row, type Rows, TableDouble } from './table-double.ts';
import { canonical, type Item, memoized } from './values.ts';

/** A step that the scheduler may take. */
export interface Step {
  /** The same in each run that took the same steps before. */
  readonly name: string;
  readonly process: string;
  readonly fault: Fault | undefined;
  /** Index of the row, or of the half of a batch, that the fault affects. */
  readonly part?: number;
  /** Absent: the fault affects the process, not a call. */
  readonly call?: Call;
  /** The process no longer waits for the call. */
  readonly late: boolean;
  readonly accesses: readonly Access[];
  /** It begins an operation, which then follows all that have ended. */
  readonly begins: boolean;
}

/** A process that a message begins. */
export interface Message extends Actor {
  /** It begins at once; otherwise when the process that wrote the row has ended, since the queue delays messages that long. */
  readonly early?: boolean;
}

export interface Cast {
  readonly processes: readonly Actor[];
  /** Operations that were done before, or may have been. */
  readonly operations: readonly Operation[];
  /** The messages that stream and queue deliver for a written row. */
  readonly onRecord?: (item: Item) => readonly Message[];
  /** Calls have no time to repeat what is refused. */
  readonly isHurried?: boolean;
  /** A fault that is not tried. */
  readonly without?: Fault;
}

interface ProcessState {
  readonly name: string;
  readonly position: Position;
  readonly alive: boolean;
}

/** Rows, and the results of the requests that were made on them. */
interface TableState {
  readonly id: number;
  readonly rows: Rows;
  /** By the request's text. */
  readonly results: Map<string, Result>;
}

/** What a request does to a table. */
interface Result {
  readonly table: TableState;
  readonly error?: Error;
  readonly delivery: Exclude<Delivery, string>;
  readonly written: readonly Item[];
  readonly failures: readonly string[];
}

export interface State {
  readonly table: TableState;
  readonly processes: readonly ProcessState[];
  readonly operations: readonly Operation[];
  /** Calls that no process waits for: each may arrive at any time, or never. */
  readonly late: readonly Call[];
  /** Messages, each with the process after whose end it is delivered. */
  readonly held: readonly (Message & { readonly after?: string })[];
  /** ClientRequestTokens of applied transactions that may be sent again. */
  readonly tokens: readonly ({ readonly token: string } & Pick<Call, 'process' | 'ownToken'>)[];
  /** Rows that a transaction of the process has written and the next read of several rows still sees as they were. */
  readonly hidden: readonly { readonly process: string; readonly row: string; readonly before: Row | undefined }[];
  /** Faults that have happened. */
  readonly faults: readonly Fault[];
  /** Names of the event metrics that the code has emitted. */
  readonly events: readonly string[];
  /** Errors that no run may show, of the code or of the simulation. */
  readonly failures: readonly string[];
  /** Whether no fault has happened that an operation may fail of: at most lost replies to writes, and refusals that ask for a retry. */
  readonly isSettled: boolean;
  /** Whether a transaction was throttled. */
  readonly isThrottled: boolean;
}
type Draft = { -readonly [Name in keyof State]: State[Name] };

/** What a finished run is judged by. */
export interface FinishedRun extends Pick<State, 'operations' | 'events' | 'isThrottled' | 'isSettled'> {
  readonly items: readonly Item[];
  /** Number of faults that have happened. */
  readonly faults: number;
}

/** Maximum calls of one operation. A merge makes about ten, and as many again each time it loses to another. */
const MAX_CALLS = 40;
/** Additional calls for each fault: the retried call, and those repeated after it. */
const MAX_CALLS_BY_FAULT = 10;
const GOES_ON: Delivery = { id: 'goes on', text: 'goes on', give: () => ({}) };
/** The SDK or the code sends the call again, without the first reply. */
const SENT_AGAIN = new Set<Fault>([
  'shows a row late',
  'is applied, its reply lost, and sent again',
  'is in progress',
  'is applied, and in progress to its second attempt',
]);
const refused = (fault: Fault, request: Request): Delivery => ({
  id: fault,
  text: fault,
  give: () => refusal(fault, request),
});

/** Numbers texts: equal texts get equal numbers. */
class Numbers {
  readonly #numbers = new Map<string, number>();
  of = (text: string): number => memoized(this.#numbers, text, () => this.#numbers.size);
}

/** The transition system of a scenario: which steps are possible in a state, and the state after each. */
export class TransitionSystem {
  readonly #cast: Cast;
  readonly #maxFaults: number;
  readonly #recorders = new Map<string, Recorder>();
  readonly #tables = new Map<string, TableState>();
  readonly #rows = new Numbers();
  readonly #texts = new Numbers();
  readonly #steps = new Map<Call, Map<string, readonly Step[]>>();

  constructor(cast: Cast, maxFaults: number) {
    this.#cast = cast;
    this.#maxFaults = maxFaults;
  }

  /** The first state: each process waits for the reply to its first call. */
  async begin(rows: Rows): Promise<State> {
    const draft: Draft = {
      table: this.#tableOf(rows),
      processes: [],
      operations: this.#cast.operations,
      late: [],
      held: [],
      tokens: [],
      hidden: [],
      faults: [],
      events: [],
      failures: [],
      isSettled: true,
      isThrottled: false,
    };
    for (const each of this.#cast.processes) await this.#begin(draft, each);
    return draft;
  }

  /** All that can happen next. */
  steps(state: State): Step[] {
    const steps: Step[] = [];
    const faulty = state.faults.length < this.#maxFaults;
    // The concurrent calls of a process are executed in the order in which they were sent, except one that overtakes others.
    for (const { position } of state.processes) {
      const [call, ...others] = position.calls;
      if (!call) continue;
      const own = this.#stepsOf(call, isFirst(state, call), faulty);
      steps.push(...(state.hidden.length > 0 && readsSeveral(call) ? own.map(asWriting) : own));
      if (faulty && position.calls.some(({ writes }) => writes))
        for (const other of others) {
          const name = `${other.name} overtakes`;
          const { process, accesses } = other;
          const begins = isFirst(state, other);
          steps.push({ name, process, fault: 'overtakes', call: other, late: false, accesses, begins });
        }
    }
    const late = this.#mayWait(state) ? [] : state.late;
    for (const call of late)
      steps.push({
        name: `${call.name} arrives late`,
        process: call.process,
        fault: undefined,
        call,
        late: true,
        accesses: call.accesses,
        begins: isFirst(state, call),
      });
    if (!faulty) return steps;
    for (const { name, position, alive } of state.processes) {
      if (position.calls.length === 0) continue;
      const add = (fault: Fault) =>
        steps.push({ name: `${name} ${fault}`, process: name, fault, late: false, accesses: [], begins: false });
      if (alive) add('dies');
      if (position.hasTimers) add('runs out of time');
      if (position.isFresh && this.#recorderOf(name).actor.retried) add('comes twice');
    }
    return steps;
  }

  /** Partitions that the calls met so far in the search write. */
  readonly written = new Set<string>();

  /**
   * A persistent set: if a process is to read what no process writes, only its steps, since what others do before that read they can also
   * do after it. Not if the read begins an operation, which then follows those that have ended. If the read ends an operation, more of the
   * others follow that operation, which only allows fewer answers. "No process writes" refers to the whole search: a search during which
   * `written` grows has to be repeated.
   */
  persistentSet(state: State, steps: Step[]): Step[] {
    let first: string | undefined;
    for (const { name, position } of state.processes) {
      const [call] = position.calls;
      if (call && (first === undefined || name < first) && this.#readsUnwritten(state, call)) first = name;
    }
    return first === undefined ? steps : steps.filter(({ process, late }) => process === first && !late);
  }

  #readsUnwritten(state: State, call: Call): boolean {
    if (call.writes || !call.request || isFirst(state, call)) return false;
    return call.accesses.every(({ pk }) => pk !== undefined && !this.written.has(pk));
  }

  /** Whether the only late call may as well arrive after the call of the only process left: they share no row, and no message results. */
  #mayWait(state: State): boolean {
    const [one, ...others] = state.late;
    const [next, ...more] = state.processes.filter(({ position }) => position.calls.length > 0);
    const call = next?.position.calls[0];
    if (!one?.request || others.length > 0 || !call || more.length > 0) return false;
    if (isFirst(state, one) || haveRowInCommon(one.accesses, call.accesses)) return false;
    const { written } = this.#resultOf(state.table, one.request, one.text, appliedToken(state, one.request));
    return !written.some((item) => this.#cast.onRecord?.(item).length);
  }

  #stepsOf(call: Call, begins: boolean, faulty: boolean): readonly Step[] {
    const byKind = memoized(this.#steps, call, () => new Map<string, readonly Step[]>());
    return memoized(byKind, `${begins} ${faulty}`, () => this.#possibleSteps(call, begins, faulty));
  }

  #possibleSteps(call: Call, begins: boolean, faulty: boolean): Step[] {
    const { name, process, accesses, writes, request } = call;
    const faults: [fault?: Fault, part?: number][] = [[]];
    if (faulty && request) {
      if (writes) faults.push(['is applied, its reply lost, and sent again'], ['is applied, and all its replies lost']);
      faults.push(['gets no reply'], ['is throttled']);
      if (writes && request.name !== 'BatchWriteCommand') faults.push(['meets another transaction']);
      if (request.name === 'TransactWriteCommand') {
        faults.push(['is in progress'], ['is applied, and in progress to its second attempt']);
        for (const [index, { write }] of accesses.entries()) if (write) faults.push(['shows a row late', index]);
      }
      if (request.name.startsWith('Batch') && accesses.length > 1)
        faults.push(['is done in part', 0], ['is done in part', 1]);
    }
    const { without } = this.#cast;
    const possible = faults.filter(([fault]) => fault === undefined || fault !== without);
    return possible.map(([fault, part]) => ({
      name: [name, fault, part].filter((each) => each !== undefined).join(' '),
      process,
      fault,
      ...(part !== undefined && { part }),
      call,
      late: false,
      accesses: fault === undefined || /^(is applied|shows|is done)/.test(fault) ? accesses : [],
      begins,
    }));
  }

  #recorderOf = (name: string) => this.#recorders.get(name) as Recorder;

  async take(state: State, { call, fault, part, late, process }: Step): Promise<State> {
    const draft: Draft = { ...state };
    if (fault) draft.faults = [...draft.faults, fault];
    if (!call) {
      draft.isSettled = false;
      await this.#affectProcess(draft, process, fault as Fault);
    } else {
      beginOperation(draft, call);
      if (late) {
        draft.late = draft.late.filter((other) => other !== call);
        this.#apply(draft, call);
      } else await this.#reply(draft, call, fault, part);
    }
    await this.#beginDue(draft);
    draft.tokens = draft.tokens.filter((each) => mayComeAgain(draft, each));
    return draft;
  }

  async #reply(draft: Draft, call: Call, fault: Fault | undefined, part = 0): Promise<void> {
    const { request } = call;
    if (fault === 'is throttled' && request?.name === 'TransactWriteCommand') draft.isThrottled = true;
    if (fault && mayFail(fault, request as Request, this.#cast.isHurried === true)) draft.isSettled = false;
    const operation = operationOf(draft, call);
    // The first of the two writes counts as an operation of its own.
    if (operation?.repeats && fault && SENT_AGAIN.has(fault)) {
      const { name, id, after = [] } = operation;
      const first = { name, id: `${id}, first time`, calls: 1, after, optional: true };
      draft.operations = [...draft.operations, first];
    }
    let delivery: Delivery = GOES_ON;
    switch (fault) {
      case 'shows a row late':
      case 'is applied, its reply lost, and sent again': {
        const { rows } = draft.table;
        const { error } = this.#apply(draft, call);
        const { pk, sk } = call.accesses[part] ?? {};
        const row = `${pk}\n${sk}`;
        if (fault === 'shows a row late' && !error)
          draft.hidden = [...draft.hidden, { process: call.process, row, before: rows.get(row) }];
        // The process waits for the reply to the next attempt.
        return;
      }
      case undefined:
      case 'overtakes':
        if (request) delivery = this.#apply(draft, call).delivery;
        break;
      case 'is done in part':
        delivery = this.#applyHalf(draft, call, part);
        break;
      case 'is applied, and all its replies lost':
      case 'is applied, and in progress to its second attempt':
        // The reply that was lost is a refusal: nothing was done.
        if (this.#apply(draft, call).error) draft.isSettled = false;
        delivery = refused(fault, request as Request);
        break;
      case 'gets no reply':
      case 'is in progress':
        arriveLater(draft, call);
        delivery = refused(fault, request as Request);
        break;
      default:
        delivery = refused(fault, request as Request);
    }
    await this.#deliver(draft, call.process, delivery, call);
  }

  #applyHalf(draft: Draft, call: Call, part: number): Delivery {
    const halves = halvesOf(call.request as Request);
    const [half, other] = part === 0 ? halves : halves.toReversed();
    const { delivery } = this.#apply(draft, { ...call, request: half as Request, text: `${call.text} ${part}` });
    const left = call.writes ? 'UnprocessedItems' : 'UnprocessedKeys';
    const reply = { ...(delivery.give().reply as object), [left]: other?.input.RequestItems };
    const text = canonical(reply);
    return { id: this.#texts.of(text), text, give: () => ({ reply }) };
  }

  /** A fault that affects a process and none of its calls. */
  async #affectProcess(draft: Draft, name: string, fault: Fault): Promise<void> {
    const { script } = this.#recorderOf(name).actor;
    if (fault === 'comes twice') return this.#begin(draft, { name: `${name} again`, script, retried: true });
    if (fault === 'runs out of time') return this.#deliver(draft, name, fault);
    const { position } = processIn(draft, name);
    replaceProcess(draft, { name, position: { ...position, calls: [] }, alive: false });
    for (const call of position.calls) arriveLater(draft, call);
    this.#retry(draft, name);
  }

  async #deliver(draft: Draft, name: string, delivery: Delivery, call?: Call): Promise<void> {
    const { position } = processIn(draft, name);
    this.#react(draft, name, await this.#recorderOf(name).deliver(position, delivery, call));
  }

  /** A message is delivered again, and an operator repeats a command, when its process has ended without success. */
  #retry(draft: Draft, name: string): void {
    const { script, retried } = this.#recorderOf(name).actor;
    if (retried) draft.held = [...draft.held, { name: `${name}'`, script }];
  }

  #react(draft: Draft, name: string, { to, effects }: Reaction): void {
    replaceProcess(draft, { name, position: to, alive: to.over === undefined });
    for (const { accesses, writes } of to.calls)
      if (writes) for (const { pk, write } of accesses) if (write) this.written.add(String(pk));
    for (const effect of effects) this.#effect(draft, effect);
    if (to.over === 'failed') this.#retry(draft, name);
  }

  #effect(draft: Draft, effect: Effect): void {
    if (effect.kind === 'event') {
      if (!draft.events.includes(effect.name)) draft.events = [...draft.events, effect.name].sort();
    } else if (effect.kind === 'abandoned') arriveLater(draft, effect.call);
    else if (effect.kind === 'operation') {
      const { kind, ...operation } = effect;
      draft.operations = [...draft.operations, { ...operation, calls: 0 }];
    } else {
      const { kind, ...changed } = effect;
      const before = draft.operations.find(({ id }) => id === effect.id) as Operation;
      const after = { ...before, ...changed, ...(kind === 'ended' && { ended: true as const }) };
      draft.operations = draft.operations.map((each) => (each === before ? after : each));
      const { maxCalls = MAX_CALLS, calls } = after;
      if (kind === 'calls' && calls === maxCalls + MAX_CALLS_BY_FAULT * draft.faults.length + 1)
        draft.failures = [...draft.failures, `"${after.name}" has made ${calls} calls and has not ended`];
    }
  }

  async #begin(draft: Draft, actor: Actor): Promise<void> {
    let { name } = actor;
    while (draft.processes.some((other) => other.name === name)) name += "'";
    const recorder = memoized(this.#recorders, name, () => new Recorder({ ...actor, name }));
    const first = await recorder.first();
    draft.processes = [...draft.processes, { name, position: first.to, alive: true }];
    this.#react(draft, name, first);
    await this.#beginDue(draft);
  }

  /** Begins the processes whose messages are due. */
  async #beginDue(draft: Draft): Promise<void> {
    for (;;) {
      const next = draft.held.find(({ after }) => after === undefined || !processIn(draft, after).alive);
      if (!next) return;
      draft.held = draft.held.filter((other) => other !== next);
      // The queue delays a message by seconds; all rows of the transaction are visible earlier.
      draft.hidden = draft.hidden.filter(({ process }) => process !== next.after);
      await this.#begin(draft, { name: next.name, script: next.script, retried: true });
    }
  }

  /** Executes a call on the table. */
  #apply(draft: Draft, call: Call): Result {
    const { text, process, ownToken } = call;
    const request = call.request as Request;
    if (draft.hidden.length > 0) {
      const touched = call.accesses.some((access) => draft.hidden.some(({ row }) => isOn(access, row)));
      if (touched && readsSeveral(call)) {
        const rows = new Map(draft.table.rows);
        for (const { row, before } of draft.hidden) before ? rows.set(row, before) : rows.delete(row);
        draft.hidden = [];
        return this.#resultOf(this.#tableOf(rows), request, text, undefined);
      }
      if (touched && call.writes) draft.hidden = [];
    }
    const token: string | undefined = request.input.ClientRequestToken;
    const applied = appliedToken(draft, request);
    const result = this.#resultOf(draft.table, request, text, applied);
    draft.table = result.table;
    if (result.failures.length > 0) draft.failures = [...draft.failures, ...result.failures];
    if (request.name === 'TransactWriteCommand' && token !== undefined && !result.error && applied === undefined)
      draft.tokens = [...draft.tokens, { token, process, ownToken }];
    for (const item of result.written)
      for (const message of this.#cast.onRecord?.(item) ?? [])
        if (!draft.processes.some((other) => other.name === message.name))
          draft.held = [...draft.held, { ...message, ...(!message.early && { after: process }) }];
    return result;
  }

  /** @param applied the token of the transaction, if it was applied before */
  #resultOf(table: TableState, request: Request, text: string, applied: string | undefined): Result {
    const name = applied === undefined ? text : `again ${text}`;
    return memoized(table.results, name, () => {
      const double = new TableDouble(table.rows);
      if (applied !== undefined) double.tokens.set(applied, canonical(request.input.TransactItems));
      const written: Item[] = [];
      double.onWrite = (item) => void written.push(item);
      const failures = isConsistent(request) ? [] : [`${request.name} is not strongly consistent`];
      let result: { reply?: unknown; error?: Error };
      try {
        result = { reply: double.apply(request) };
      } catch (error) {
        if (!(error instanceof DynamoDBServiceException)) failures.push(String(error));
        result = { error: error as Error };
      }
      const after = isWrite(request) ? this.#tableOf(double.rows) : table;
      const reply = result.error ? outcomeOf(result) : canonical(result.reply);
      const delivery = { id: this.#texts.of(reply), text: reply, give: () => result };
      return { table: after, ...(result.error && { error: result.error }), delivery, written, failures };
    });
  }

  #tableOf(rows: Rows): TableState {
    const ids: number[] = [];
    for (const row of rows.values()) {
      row.text ??= canonical(row.item);
      ids.push(this.#rows.of(row.text));
    }
    const name = ids.sort((one, other) => one - other).join();
    return memoized(this.#tables, name, () => ({ id: this.#tables.size, rows, results: new Map() }));
  }

  /** States with equal keys have the same future and are judged alike. */
  key(state: State): string {
    const { table, processes, late, held, tokens, hidden } = state;
    const part = (text: string) => this.#texts.of(text);
    // Of an ended process only the answers matter, which are in its operations.
    const positions = processes
      .map(({ name, position, alive }) =>
        alive || position.calls.length > 0 ? position.id : -1 - part(`${name} is over`),
      )
      .sort((one, other) => one - other);
    const rest = [
      ...late.map(({ name, text }) => part(`${name} ${text}`)).sort(),
      ...held.map(({ name, after }) => part(`${name} after ${after}`)).sort(),
      ...tokens.map(({ token }) => part(token)).sort(),
      ...hidden.map(({ process, row, before }) => part(`${row} of ${process} as ${before?.text}`)),
    ];
    return `${table.id} ${positions} ${this.#judgedBy(state)} ${rest}`;
  }

  #judgedBy(state: State): string {
    const { faults, isSettled, isThrottled, events, failures } = state;
    const operations = this.#operationsIn(state);
    return `${operations} ${faults.length} ${isSettled} ${isThrottled} ${events} ${failures.length}`;
  }

  readonly #operations = new WeakMap<State['operations'], number>();
  #operationsIn({ operations }: State): number {
    return memoized(this.#operations, operations, () => {
      const each = operations.map((one) => {
        return `${one.id} after ${one.after} ${one.calls > 0} ${one.ended ? outcomeOf(one) : ''}`;
      });
      return this.#texts.of(each.sort().join(';'));
    });
  }

  /** Finished runs with equal keys are judged alike. */
  finishedKey = (state: State): string => `${state.table.id} ${this.#judgedBy(state)}`;
}

export const finishedRun = (state: State): FinishedRun => ({
  items: [...state.table.rows.values()].map(({ item }) => item),
  operations: state.operations,
  faults: state.faults.length,
  events: state.events,
  isThrottled: state.isThrottled,
  isSettled: state.isSettled,
});

/** Whether no process waits for a reply: only late calls can still arrive. */
export const isOver = ({ processes }: State) => processes.every(({ position }) => position.calls.length === 0);

const processIn = ({ processes }: State, name: string) => processes.find((each) => each.name === name) as ProcessState;

/** The token of a transaction that was applied before. */
const appliedToken = ({ tokens }: State, { input }: Request) =>
  tokens.find(({ token }) => token === input.ClientRequestToken)?.token;

const operationOf = ({ operations }: State, { operation }: Call) =>
  operation === undefined ? undefined : operations.find(({ id }) => id === operation);

/** Whether none of its operation's calls was executed before. */
function isFirst(state: State, call: Call): boolean {
  const operation = operationOf(state, call);
  return operation !== undefined && operation.after === undefined;
}

/** An operation begins when its first call is executed. */
function beginOperation(draft: Draft, call: Call): void {
  if (!isFirst(draft, call)) return;
  const begun = operationOf(draft, call);
  const after = draft.operations.filter(({ ended }) => ended).map(({ id }) => id);
  draft.operations = draft.operations.map((each) => (each === begun ? { ...each, after: after.sort() } : each));
}

function replaceProcess(draft: Draft, changed: ProcessState): void {
  draft.processes = draft.processes.map((each) => (each.name === changed.name ? changed : each));
}

function arriveLater(draft: Draft, call: Call): void {
  if (call.writes) draft.late = [...draft.late, call];
}

/** A process that runs may send a transaction with a token of its own again. */
function mayComeAgain({ processes, late }: State, { token, process, ownToken }: State['tokens'][number]): boolean {
  const has = ({ request }: Call) => request?.input.ClientRequestToken === token;
  return (
    late.some(has) ||
    processes.some(({ name, position, alive }) => position.calls.some(has) || (ownToken && alive && name === process))
  );
}

/** Whether each row is read at another moment, so that a transaction may be seen in part. */
const readsSeveral = ({ request }: Call) => request !== undefined && /^(Query|BatchGet|Scan)/.test(request.name);

const isOn = ({ pk, sk }: Access, row: string) =>
  pk === undefined || (sk === undefined ? row.startsWith(`${pk}\n`) : row === `${pk}\n${sk}`);

/** Only the first read of a late row sees it as it was, so the order of reads matters, too. */
const asWriting = (step: Step): Step => ({
  ...step,
  accesses: step.accesses.map((access) => ({ ...access, write: true })),
});

export const haveRowInCommon = (some: readonly Access[], others: readonly Access[]) =>
  some.some((one) => others.some((other) => collide(one, other)));

function collide(one: Access, other: Access): boolean {
  if (!one.write && !other.write) return false;
  const meets = (a: string | undefined, b: string | undefined) => a === undefined || b === undefined || a === b;
  return meets(one.pk, other.pk) && meets(one.sk, other.sk);
}

const isWrite = ({ name }: Request) => /^(Put|Update|Delete|BatchWrite|TransactWrite)/.test(name);

const isConsistent = (request: Request) => {
  const { ConsistentRead, RequestItems = {} } = request.input;
  const [batch] = Object.values(RequestItems as Record<string, { ConsistentRead?: boolean }>);
  return isWrite(request) || (ConsistentRead ?? batch?.ConsistentRead) === true;
};

/** A step for people: the request and its rows. */
export function describe({ name, fault, call }: Step): string {
  if (!call) return name;
  if (!call.request) return `${name} (goes on)`;
  const rows = call.accesses.map(({ pk = '*', sk = '*', write }) =>
    `${write ? 'write' : 'read'} ${pk} ${sk}`.replace(/0{8,}/g, '…'),
  );
  return `${fault ? `${call.name} ${fault}` : name}: ${call.request.name.replace('Command', '')} ${rows.join('; ')}`;
}
