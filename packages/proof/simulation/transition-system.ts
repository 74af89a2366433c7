/**
 * Processes under a scheduler: each call to the table waits until the scheduler executes it. The state is immutable: a step makes a new
 * one.
 */
import { DynamoDBServiceException } from '@aws-sdk/client-dynamodb';
import {
  Behavior,
  type BehaviorOptions,
  type Call,
  type Delivery,
  type Effect,
  outcomeOf,
  type Position,
  type Reaction,
} from './behavior.ts';
import { type Fault, halvesOf, mayFail, refusal } from './faults.ts';
import type { Operation, Script } from './surroundings.ts';
import { type Access, type Request, type Row, type Rows, TableDouble } from './table-double.ts';
import { canonical, type Item } from './values.ts';

/** The steps that the scheduler may take. */
export interface Step {
  /** Equal in each run that took the same steps before. */
  readonly name: string;
  readonly process: string;
  readonly fault: Fault | undefined;
  /** The row, or half of a batch, that the fault affects. */
  readonly part?: number;
  /** Absent: the fault affects the process. */
  readonly call?: Call;
  /** Nothing waits for the call any more. */
  readonly late: boolean;
  readonly accesses: readonly Access[];
  /** It begins an operation; which others have ended is visible. */
  readonly begins: boolean;
}

/** A process that begins with the others, or that a message begins. */
export interface Beginning extends BehaviorOptions {
  readonly name: string;
  readonly script: Script;
}

/** A process that a message begins. */
export interface Message extends Beginning {
  /** At once; otherwise after the process whose write it reports has ended, since the queue delays messages that long. */
  readonly early?: boolean;
}

export interface Cast {
  readonly processes: readonly Beginning[];
  /** What has happened, or may have, before. */
  readonly operations: readonly Operation[];
  /** Processes that a written row starts, by stream and queue. */
  readonly onRecord?: (item: Item) => readonly Message[];
  /** Calls have no time to retry what is refused. */
  readonly isHurried?: boolean;
  /** Does not happen. */
  readonly without?: Fault;
}

interface ProcessState {
  readonly name: string;
  readonly position: Position;
  readonly alive: boolean;
}

export interface State {
  readonly table: Table;
  readonly processes: readonly ProcessState[];
  readonly operations: readonly Operation[];
  /** A call that nothing waits for: it may arrive at any time, or never. */
  readonly late: readonly Call[];
  /** Messages, and the process after whose end each is delivered. */
  readonly held: readonly (Message & { readonly after?: string })[];
  /** Tokens of applied transactions that may be sent again; those that the code retries are kept as long as their process runs. */
  readonly tokens: readonly { readonly token: string; readonly process: string; readonly own: boolean }[];
  /** Rows written by a process's transaction that reads of several rows may still see unchanged. */
  readonly hidden: readonly { readonly process: string; readonly row: string; readonly before: Row | undefined }[];
  /** Those that have happened. */
  readonly faults: readonly Fault[];
  /** Names of the metrics that the code has emitted. */
  readonly events: readonly string[];
  /** Errors that no run may show, of the code or of the simulation. */
  readonly failures: readonly string[];
  /** No fault excuses an operation that fails. */
  readonly isSettled: boolean;
  /** A transaction was throttled. */
  readonly isThrottled: boolean;
}
type Draft = { -readonly [Name in keyof State]: State[Name] };

/** The table. */
interface Table {
  readonly id: number;
  readonly rows: Rows;
  readonly known: Map<string, Applied>;
}

interface Applied {
  readonly table: Table;
  readonly error?: Error;
  readonly delivery: Exclude<Delivery, string>;
  readonly written: readonly Item[];
  readonly failures: readonly string[];
}

/** What a run is judged by. */
export interface Outcome extends Pick<State, 'operations' | 'events' | 'isThrottled'> {
  readonly items: readonly Item[];
  /** How many have happened. */
  readonly faults: number;
  /** Whether the only faults are lost replies whose outcome the table shows, and refusals that ask for a retry. */
  readonly isSettled: boolean;
}

/** Maximum calls of one operation. A merge makes about ten, and as many again each time it loses to another. */
const MAX_CALLS = 40;
/** Additional calls for each fault: the retried call, and what is repeated. */
const MAX_CALLS_BY_FAULT = 10;
const GONE: readonly Call[] = [];
const GOES_ON: Delivery = { id: 'goes on', text: 'goes on', give: () => ({}) };
/** Retries by the SDK or by the code; neither receives the first reply. */
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

/** Numbers for texts. */
class Numbers {
  readonly #of = new Map<string, number>();
  of(text: string): number {
    let number = this.#of.get(text);
    if (number === undefined) {
      number = this.#of.size;
      this.#of.set(text, number);
    }
    return number;
  }
}

/** The transition system of a scenario: the steps from each state. */
export class TransitionSystem {
  readonly #cast: Cast;
  readonly #mostFaults: number;
  readonly #behaviors = new Map<string, Behavior>();
  readonly #tables = new Map<string, Table>();
  readonly #rows = new Numbers();
  readonly #parts = new Numbers();
  readonly #steps = new Map<Call, Map<string, readonly Step[]>>();

  constructor(cast: Cast, mostFaults: number) {
    this.#cast = cast;
    this.#mostFaults = mostFaults;
  }

  /** All processes wait for their first call. */
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
    const faulty = state.faults.length < this.#mostFaults;
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
      if (position.isFresh && this.#isMessage(name)) add('comes twice');
    }
    return steps;
  }

  /** The partitions that calls write. */
  readonly written = new Set<string>();

  /**
   * If a process reads what nobody writes, only its steps: what others do before that read they can also do after it. Not if the read
   * begins an operation, since others that end earlier would precede it; if the operation ends with the read, it precedes more of the
   * others, which allows fewer answers. "Nobody writes" refers to all calls of the whole search: a search during which `written` grows has
   * to be repeated.
   */
  withoutOthers(state: State, steps: Step[]): Step[] {
    let apart: string | undefined;
    for (const { name, position } of state.processes) {
      const [call] = position.calls;
      if (call && (apart === undefined || name < apart) && this.#isApart(state, call)) apart = name;
    }
    return apart === undefined ? steps : steps.filter(({ process, late }) => process === apart && !late);
  }

  #isApart(state: State, call: Call): boolean {
    if (call.writes || !call.request || isFirst(state, call)) return false;
    return call.accesses.every(({ pk }) => pk !== undefined && !this.written.has(pk));
  }

  /**
   * Whether a late call can also arrive after the next step: one process is left, its call shares no row with it, and no message results
   * from it.
   */
  #mayWait(state: State): boolean {
    const [one, ...others] = state.late;
    const [next, ...more] = state.processes.filter(({ position }) => position.calls.length > 0);
    const call = next?.position.calls[0];
    if (!one?.request || others.length > 0 || !call || more.length > 0) return false;
    if (isFirst(state, one) || haveRowInCommon(one.accesses, call.accesses)) return false;
    const { written } = this.#known(state.table, one.request, one.text, this.#tokenIn(state, one.request));
    return !written.some((item) => this.#cast.onRecord?.(item).length);
  }

  #stepsOf(call: Call, begins: boolean, faulty: boolean): readonly Step[] {
    const kind = `${begins} ${faulty}`;
    let kinds = this.#steps.get(call);
    if (!kinds) {
      kinds = new Map();
      this.#steps.set(call, kinds);
    }
    let steps = kinds.get(kind);
    if (!steps) {
      const { name, process, accesses, writes, request } = call;
      const faults: [fault?: Fault, part?: number][] = [[]];
      if (faulty && request) {
        if (writes)
          faults.push(['is applied, its reply lost, and sent again'], ['is applied, and all its replies lost']);
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
      steps = possible.map(([fault, part]) => ({
        name: [name, fault, part].filter((each) => each !== undefined).join(' '),
        process,
        fault,
        ...(part !== undefined && { part }),
        call,
        late: false,
        accesses: fault === undefined || /^(is applied|shows|is done)/.test(fault) ? accesses : [],
        begins,
      }));
      kinds.set(kind, steps);
    }
    return steps;
  }

  readonly #messages = new Map<string, Beginning>();
  #isMessage = (name: string) => this.#messages.get(name)?.message === true;

  async take(state: State, { call, fault, part, late, process }: Step): Promise<State> {
    const draft: Draft = { ...state };
    if (fault) draft.faults = [...draft.faults, fault];
    if (!call) {
      draft.isSettled = false;
      await this.#disturb(draft, process, fault as Fault);
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
        // It waits for the reply to the next attempt.
        return;
      }
      case undefined:
      case 'overtakes':
        if (request) delivery = this.#apply(draft, call).delivery;
        break;
      case 'is done in part':
        delivery = this.#half(draft, call, part);
        break;
      case 'is applied, and all its replies lost':
      case 'is applied, and in progress to its second attempt':
        // A refusal changes nothing.
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

  #half(draft: Draft, call: Call, part: number): Delivery {
    const [half, other] = part === 0 ? halvesOf(call.request as Request) : halvesOf(call.request as Request).reverse();
    const { delivery } = this.#apply(draft, { ...call, request: half as Request, text: `${call.text} ${part}` });
    const left = call.writes ? 'UnprocessedItems' : 'UnprocessedKeys';
    const reply = { ...(delivery.give().reply as object), [left]: other?.input.RequestItems };
    const text = canonical(reply);
    return { id: this.#parts.of(text), text, give: () => ({ reply }) };
  }

  async #disturb(draft: Draft, name: string, fault: Fault): Promise<void> {
    const own = this.#messages.get(name) as Beginning;
    if (fault === 'comes twice')
      return this.#begin(draft, { name: `${name} again`, script: own.script, message: true });
    if (fault === 'runs out of time') return this.#deliver(draft, name, fault);
    const { position } = draft.processes.find((each) => each.name === name) as ProcessState;
    change(draft, { name, position: { ...position, calls: GONE }, alive: false });
    for (const call of position.calls) arriveLater(draft, call);
    if (own.message) draft.held = [...draft.held, { name: `${name}'`, script: own.script }];
  }

  async #deliver(draft: Draft, name: string, delivery: Delivery, call?: Call): Promise<void> {
    const { position } = draft.processes.find((each) => each.name === name) as ProcessState;
    this.#react(draft, name, await (this.#behaviors.get(name) as Behavior).deliver(position, delivery, call));
  }

  #react(draft: Draft, name: string, { to, effects }: Reaction): void {
    change(draft, { name, position: to, alive: to.over === undefined });
    for (const { accesses, writes } of to.calls)
      if (writes) for (const { pk, write } of accesses) if (write) this.written.add(String(pk));
    for (const effect of effects) this.#effect(draft, effect);
    const own = this.#messages.get(name) as Beginning;
    // The queue delivers the message again.
    if (to.over === 'failed' && own.message) draft.held = [...draft.held, { name: `${name}'`, script: own.script }];
  }

  #effect(draft: Draft, effect: Effect): void {
    if (effect.kind === 'event') {
      if (!draft.events.includes(effect.name)) draft.events = [...draft.events, effect.name].sort();
    } else if (effect.kind === 'left') arriveLater(draft, effect.call);
    else if (effect.kind === 'operation') {
      const { kind, ...operation } = effect;
      draft.operations = [...draft.operations, { ...operation, calls: 0 }];
    } else {
      const { kind, ...changed } = effect;
      const before = draft.operations.find(({ id }) => id === effect.id) as Operation;
      const after = { ...before, ...changed, ...(kind === 'ended' && { ended: true as const }) };
      draft.operations = draft.operations.map((each) => (each === before ? after : each));
      const { mostCalls = MAX_CALLS, calls } = after;
      if (kind === 'calls' && calls === mostCalls + MAX_CALLS_BY_FAULT * draft.faults.length + 1)
        draft.failures = [...draft.failures, `"${after.name}" makes ${calls} calls, and has no end yet`];
    }
  }

  async #begin(draft: Draft, beginning: Beginning): Promise<void> {
    let { name } = beginning;
    while (draft.processes.some((other) => other.name === name)) name += "'";
    let behavior = this.#behaviors.get(name);
    if (!behavior) {
      behavior = new Behavior(name, beginning.script, beginning);
      this.#behaviors.set(name, behavior);
      this.#messages.set(name, beginning);
    }
    const first = await behavior.first();
    draft.processes = [...draft.processes, { name, position: first.to, alive: true }];
    this.#react(draft, name, first);
    await this.#beginDue(draft);
  }

  async #beginDue(draft: Draft): Promise<void> {
    for (;;) {
      const isOver = (process: string) => !draft.processes.find(({ name }) => name === process)?.alive;
      const next = draft.held.find(({ after }) => after === undefined || isOver(after));
      if (!next) return;
      draft.held = draft.held.filter((other) => other !== next);
      // The queue's delay of seconds is longer than a row of a transaction can be late.
      draft.hidden = draft.hidden.filter(({ process }) => process !== next.after);
      await this.#begin(draft, { name: next.name, script: next.script, message: true });
    }
  }

  /** Executes a call on the table. */
  #apply(draft: Draft, call: Call): Applied {
    const { request, text, process, ownToken } = call;
    const { name, input } = request as Request;
    if (draft.hidden.length > 0) {
      const touched = call.accesses.some((access) => draft.hidden.some(({ row }) => isOn(access, row)));
      if (touched && readsSeveral(call)) {
        const rows = new Map(draft.table.rows);
        for (const { row, before } of draft.hidden) before ? rows.set(row, before) : rows.delete(row);
        draft.hidden = [];
        return this.#known(this.#tableOf(rows), request as Request, text, undefined);
      }
      if (touched && call.writes) draft.hidden = [];
    }
    const token: string | undefined = input.ClientRequestToken;
    const known = this.#tokenIn(draft, request as Request);
    const applied = this.#known(draft.table, request as Request, text, known);
    draft.table = applied.table;
    if (applied.failures.length > 0) draft.failures = [...draft.failures, ...applied.failures];
    if (name === 'TransactWriteCommand' && token !== undefined && !applied.error && known === undefined)
      draft.tokens = [...draft.tokens, { token, process, own: ownToken }];
    for (const item of applied.written)
      for (const message of this.#cast.onRecord?.(item) ?? [])
        if (!draft.processes.some((other) => other.name === message.name))
          draft.held = [...draft.held, { ...message, ...(!message.early && { after: process }) }];
    return applied;
  }

  /** The reply to a transaction that was applied before. */
  #tokenIn({ tokens }: State, { input }: Request): string | undefined {
    return tokens.find(({ token }) => token === input.ClientRequestToken)?.token;
  }

  #known(table: Table, request: Request, text: string, token: string | undefined): Applied {
    const name = token === undefined ? text : `again ${text}`;
    let applied = table.known.get(name);
    if (!applied) {
      const double = new TableDouble(table.rows);
      if (token !== undefined) double.tokens.set(token, canonical(request.input.TransactItems));
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
      const after = written.length > 0 || changes(request) ? this.#tableOf(double.rows) : table;
      const reply = result.error ? outcomeOf(result) : canonical(result.reply);
      const delivery = { id: this.#parts.of(reply), text: reply, give: () => result };
      applied = { table: after, ...(result.error && { error: result.error }), delivery, written, failures };
      table.known.set(name, applied);
    }
    return applied;
  }

  #tableOf(rows: Rows): Table {
    const ids: number[] = [];
    for (const row of rows.values()) {
      row.text ??= canonical(row.item);
      ids.push(this.#rows.of(row.text));
    }
    const name = ids.sort((one, other) => one - other).join();
    let table = this.#tables.get(name);
    if (!table) {
      table = { id: this.#tables.size, rows, known: new Map() };
      this.#tables.set(name, table);
    }
    return table;
  }

  /** Two states with equal keys have the same future and the same results to judge. */
  key(state: State): string {
    const { table, processes, late, held, tokens, hidden } = state;
    const part = (text: string) => this.#parts.of(text);
    // Deliveries to an ended process no longer matter, except for its answers.
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
    let number = this.#operations.get(operations);
    if (number === undefined) {
      const each = operations.map((one) => {
        return `${one.id} after ${one.after} ${one.calls > 0} ${one.ended ? outcomeOf(one) : ''}`;
      });
      number = this.#parts.of(each.sort().join(';'));
      this.#operations.set(operations, number);
    }
    return number;
  }

  /** A key of everything that a run is judged by. */
  judged = (state: State): string => `${state.table.id} ${this.#judgedBy(state)}`;
}

export const outcomeOfRun = (state: State): Outcome => ({
  items: [...state.table.rows.values()].map(({ item }) => item),
  operations: state.operations,
  faults: state.faults.length,
  events: state.events,
  isThrottled: state.isThrottled,
  isSettled: state.isSettled,
});

/** Whether nothing waits for a reply: only late calls can still arrive. */
export const isOver = ({ processes }: State) => processes.every(({ position }) => position.calls.length === 0);

const operationOf = ({ operations }: State, { operation }: Call) =>
  operation === undefined ? undefined : operations.find(({ id }) => id === operation);

/** Whether it is the first executed call of its operation. */
function isFirst(state: State, call: Call): boolean {
  const operation = operationOf(state, call);
  return operation !== undefined && operation.after === undefined;
}

/** An operation begins with its first executed call. */
function beginOperation(draft: Draft, call: Call): void {
  if (!isFirst(draft, call)) return;
  const begun = operationOf(draft, call);
  const after = draft.operations.filter(({ ended }) => ended).map(({ id }) => id);
  draft.operations = draft.operations.map((each) => (each === begun ? { ...each, after: after.sort() } : each));
}

function change(draft: Draft, changed: ProcessState): void {
  draft.processes = draft.processes.map((each) => (each.name === changed.name ? changed : each));
}

function arriveLater(draft: Draft, call: Call): void {
  if (call.writes) draft.late = [...draft.late, call];
}

function mayComeAgain({ processes, late }: State, { token, process, own }: State['tokens'][number]): boolean {
  const has = ({ request }: Call) => request?.input.ClientRequestToken === token;
  return (
    late.some(has) ||
    processes.some(({ name, position, alive }) => position.calls.some(has) || (own && alive && name === process))
  );
}

/** Reads with read-committed isolation only: each row is read at a time of its own. */
const readsSeveral = ({ request }: Call) => request !== undefined && /^(Query|BatchGet|Scan)/.test(request.name);

const isOn = ({ pk, sk }: Access, row: string) =>
  pk === undefined || (sk === undefined ? row.startsWith(`${pk}\n`) : row === `${pk}\n${sk}`);

/** Only the first read of a late row sees it unchanged, so the order of reads matters. */
const asWriting = (step: Step): Step => ({
  ...step,
  accesses: step.accesses.map((access) => ({ ...access, write: true })),
});

export const haveRowInCommon = (some: readonly Access[], others: readonly Access[]) =>
  some.some((one) => others.some((other) => collide(one, other)));

/** Two reads do not. */
function collide(one: Access, other: Access): boolean {
  if (!one.write && !other.write) return false;
  const meets = (a: string | undefined, b: string | undefined) => a === undefined || b === undefined || a === b;
  return meets(one.pk, other.pk) && meets(one.sk, other.sk);
}

const changes = ({ name }: Request) => /^(Put|Update|Delete|BatchWrite|TransactWrite)/.test(name);

/** Applies to reads only; writes always count. */
const isConsistent = (request: Request) => {
  const { ConsistentRead, RequestItems = {} } = request.input;
  const [batch] = Object.values(RequestItems as Record<string, { ConsistentRead?: boolean }>);
  return changes(request) || (ConsistentRead ?? batch?.ConsistentRead) === true;
};

/** A readable description of a step: the request and its rows. */
export function describe({ name, fault, call }: Step): string {
  if (!call) return name;
  if (!call.request) return `${name} (goes on)`;
  const rows = call.accesses.map(({ pk = '*', sk = '*', write }) =>
    `${write ? 'write' : 'read'} ${pk} ${sk}`.replace(/0{8,}/g, '…'),
  );
  return `${fault ? `${call.name} ${fault}` : name}: ${call.request.name.replace('Command', '')} ${rows.join('; ')}`;
}
