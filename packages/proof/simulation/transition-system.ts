/** Processes under a scheduler, which executes their calls to the table one at a time. */
import type { Invocation } from './environment.ts';
import { excusesFailure, type Fault, faultsOf, halvesOf, refusal, SENT_AGAIN } from './faults.ts';
import { type Reaction, Recorder } from './recorder.ts';
import type { Access, Request } from './requests.ts';
import type { Actor, Call, Delivery } from './run.ts';
import {
  applyEffect,
  type Draft,
  invocationOf,
  keepInFlight,
  keyOf,
  type Message,
  processIn,
  replaceInvocation,
  replaceProcess,
  type State,
} from './state.ts';
import { covers, lateArrival, processFault, readsSeveral, type Step, stepOf } from './steps.ts';
import type { Rows } from './table-double.ts';
import { Tables, TextIds } from './tables.ts';
import { type Item, memoized } from './values.ts';

/** What a transition system consists of. */
export interface Setup {
  readonly processes: readonly Actor[];
  /** Invocations that may have happened before the processes start. */
  readonly invocations: readonly Invocation[];
  /** The messages that stream and queue deliver for a written row. */
  readonly messagesFor?: (item: Item) => readonly Message[];
  /** Whether calls have too little time to retry a refused request. */
  readonly isHurried?: boolean;
  /** A fault that is not tried. */
  readonly excludedFault?: Fault;
}

const RESUMES: Delivery = { id: 'resumes', text: 'resumes' };
const TIMER_ENDS: Delivery = { id: 'timer ends', text: 'timer ends' };
const refused = (fault: Fault, request: Request): Delivery => ({ id: fault, text: fault, ...refusal(fault, request) });

/** The transition system of a scenario: which steps are possible in a state, and the state after each. */
export class TransitionSystem {
  readonly #setup: Setup;
  readonly #maxFaults: number;
  readonly #recorders = new Map<string, Recorder>();
  readonly #tables = new Tables();
  readonly #textIds = new TextIds();

  constructor(setup: Setup, maxFaults: number) {
    this.#setup = setup;
    this.#maxFaults = maxFaults;
  }

  /** The first state: each process waits for the reply to its first call. */
  async begin(rows: Rows): Promise<State> {
    const draft: Draft = {
      table: this.#tables.withRows(rows),
      processes: [],
      invocations: this.#setup.invocations,
      inFlight: [],
      queued: [],
      tokens: [],
      hidden: [],
      faults: 0,
      events: [],
      failures: [],
      isFailureExcused: false,
      isThrottled: false,
    };
    for (const actor of this.#setup.processes) await this.#start(draft, actor);
    return draft;
  }

  /** All that can happen next. */
  steps(state: State): Step[] {
    const waiting = state.processes.filter(({ position }) => position.calls.length > 0);
    // The concurrent calls of a process are executed in the order in which they were sent, except one that overtakes others.
    const steps = waiting.map(({ position }) => stepOf(position.calls[0] as Call));
    steps.push(...state.inFlight.map(lateArrival));
    if (state.faults === this.#maxFaults) return steps;
    for (const { name, position, alive } of waiting) {
      const [call, ...laterCalls] = position.calls as [Call, ...Call[]];
      for (const [fault, part] of faultsOf(call))
        if (fault !== this.#setup.excludedFault) steps.push(stepOf(call, fault, part));
      if (position.calls.some(({ writes }) => writes))
        steps.push(...laterCalls.map((laterCall) => stepOf(laterCall, 'overtakes')));
      if (alive) steps.push(processFault(name, 'dies'));
      if (position.hasTimers) steps.push(processFault(name, 'runs out of time'));
      if (position.hasMadeOneCall && this.#recorderOf(name).actor.retried)
        steps.push(processFault(name, 'is delivered twice'));
    }
    return steps;
  }

  /** States with equal keys have the same future and are judged alike. */
  key = (state: State): string => keyOf(state, this.#textIds.of);

  #recorderOf = (name: string) => this.#recorders.get(name) as Recorder;

  /** @returns the state after the step */
  async take(state: State, { call, fault, part, isLate, process }: Step): Promise<State> {
    const draft: Draft = { ...state };
    if (fault) draft.faults += 1;
    if (!call) {
      draft.isFailureExcused = true;
      await this.#affectProcess(draft, process, fault as Fault);
    } else {
      const invocation = invocationOf(draft, call);
      if (invocation && invocation.after === undefined) {
        const after = draft.invocations.filter(({ ended }) => ended).map(({ id }) => id);
        replaceInvocation(draft, { ...invocation, after: after.sort() });
      }
      if (isLate) {
        draft.inFlight = draft.inFlight.filter((pending) => pending !== call);
        this.#apply(draft, call);
      } else await this.#reply(draft, call, fault, part);
    }
    await this.#startDue(draft);
    return draft;
  }

  /** Executes a call, unless the fault prevents it, and delivers the reply or error to the process that waits for it. */
  async #reply(draft: Draft, call: Call, fault: Fault | undefined, part = 0): Promise<void> {
    const { request, process } = call;
    if (!request) return this.#deliver(draft, process, RESUMES, call);
    if (fault === 'is throttled' && request.name === 'TransactWriteCommand') draft.isThrottled = true;
    if (fault && excusesFailure(fault, request, this.#setup.isHurried === true)) draft.isFailureExcused = true;
    const invocation = invocationOf(draft, call);
    // The call is applied twice: the first time counts as an invocation of its own.
    if (invocation?.mayApplyTwice && fault && SENT_AGAIN.has(fault)) {
      const { name, id, after = [] } = invocation;
      const applied = { name, id: `${id}, first time`, calls: 1, after, optional: true };
      draft.invocations = [...draft.invocations, applied];
    }
    switch (fault) {
      case undefined:
      case 'overtakes':
        return this.#deliver(draft, process, this.#apply(draft, call), call);
      case 'is done in part':
        return this.#deliver(draft, process, this.#applyHalf(draft, call, part), call);
      // The process waits for the reply to the next attempt.
      case 'is applied, its reply lost, and sent again':
        this.#apply(draft, call);
        return;
      case 'shows a row late':
        this.#applyWithLateRow(draft, call, call.accesses[part] as Access);
        return;
      case 'is applied, and all its replies lost':
      case 'is applied, but reported as in progress':
        // If the lost reply was a refusal, nothing was done.
        if (this.#apply(draft, call).error) draft.isFailureExcused = true;
        break;
      case 'gets no reply':
      case 'is in progress':
        keepInFlight(draft, call);
    }
    await this.#deliver(draft, process, refused(fault, request), call);
  }

  #applyWithLateRow(draft: Draft, call: Call, { pk, sk }: Access): void {
    const row = `${pk}\n${sk}`;
    const before = draft.table.rows.get(row);
    const { error } = this.#apply(draft, call);
    if (!error) draft.hidden = [...draft.hidden, { process: call.process, row, before }];
  }

  #applyHalf(draft: Draft, call: Call, part: number): Delivery {
    const halves = halvesOf(call.request as Request);
    const [half, other] = part === 0 ? halves : halves.toReversed();
    const { reply } = this.#apply(draft, { ...call, request: half as Request, text: `${call.text} ${part}` });
    return this.#tables.deliveryOf({ reply: { ...(reply as object), UnprocessedKeys: other?.input.RequestItems } });
  }

  /** A fault that affects a process and none of its calls. */
  async #affectProcess(draft: Draft, name: string, fault: Fault): Promise<void> {
    const { script } = this.#recorderOf(name).actor;
    if (fault === 'is delivered twice') return this.#start(draft, { name: `${name} again`, script, retried: true });
    if (fault === 'runs out of time') return this.#deliver(draft, name, TIMER_ENDS);
    const { position } = processIn(draft, name);
    replaceProcess(draft, { name, position: { ...position, calls: [] }, alive: false });
    for (const call of position.calls) keepInFlight(draft, call);
    this.#retry(draft, name);
  }

  async #deliver(draft: Draft, name: string, delivery: Delivery, call?: Call): Promise<void> {
    const { position } = processIn(draft, name);
    this.#react(draft, name, await this.#recorderOf(name).deliver(position, delivery, call));
  }

  /** A message is delivered again, and an operator repeats a command, when its process has ended without success. */
  #retry(draft: Draft, name: string): void {
    const { script, retried } = this.#recorderOf(name).actor;
    if (retried) draft.queued = [...draft.queued, { name: `${name}'`, script }];
  }

  #react(draft: Draft, name: string, { to, effects }: Reaction): void {
    replaceProcess(draft, { name, position: to, alive: to.over === undefined });
    for (const effect of effects) applyEffect(draft, effect);
    if (to.over === 'failed') this.#retry(draft, name);
  }

  async #start(draft: Draft, actor: Actor): Promise<void> {
    let { name } = actor;
    while (draft.processes.some((process) => process.name === name)) name += "'";
    const recorder = memoized(this.#recorders, name, () => new Recorder({ ...actor, name }));
    const reaction = await recorder.start();
    draft.processes = [...draft.processes, { name, position: reaction.to, alive: true }];
    this.#react(draft, name, reaction);
  }

  /** Starts the processes whose messages are due. */
  async #startDue(draft: Draft): Promise<void> {
    for (;;) {
      const next = draft.queued.find(({ after }) => after === undefined || !processIn(draft, after).alive);
      if (!next) return;
      draft.queued = draft.queued.filter((message) => message !== next);
      // The queue delays a message by seconds: by then all rows of the transaction are visible.
      draft.hidden = draft.hidden.filter(({ process }) => process !== next.after);
      await this.#start(draft, { name: next.name, script: next.script, retried: true });
    }
  }

  /** Executes a call on the table. @returns its reply */
  #apply(draft: Draft, call: Call): Delivery {
    const { text, process } = call;
    const request = call.request as Request;
    const touchesHidden = draft.hidden.some(({ row }) => call.accesses.some((access) => covers(access, row)));
    if (touchesHidden && readsSeveral(call)) {
      const rows = new Map(draft.table.rows);
      for (const { row, before } of draft.hidden) before ? rows.set(row, before) : rows.delete(row);
      draft.hidden = [];
      return this.#tables.resultOf(this.#tables.withRows(rows), request, text).delivery;
    }
    if (touchesHidden && call.writes) draft.hidden = [];
    const token: string | undefined = request.input.ClientRequestToken;
    const wasApplied = token !== undefined && draft.tokens.includes(token);
    const { table, delivery, failures, written } = this.#tables.resultOf(draft.table, request, text, wasApplied);
    draft.table = table;
    if (failures.length > 0) draft.failures = [...draft.failures, ...failures];
    if (token !== undefined && !delivery.error && !wasApplied) draft.tokens = [...draft.tokens, token];
    for (const message of written.flatMap((item) => this.#setup.messagesFor?.(item) ?? []))
      if (!draft.processes.some(({ name }) => name === message.name))
        draft.queued = [...draft.queued, { ...message, ...(!message.early && { after: process }) }];
    return delivery;
  }
}
