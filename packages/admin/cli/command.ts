import { Command, Option } from 'commander';
import type { AccountRow } from '../../../lib/model/account.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { type Table, withSignal } from '../../../lib/table/client.ts';
import { readAccount } from '../accounts/accounts.ts';
import { withAnswerTimeout } from '../local-service/answer-timeout.ts';
import { accountId } from './arguments.ts';
import { type Audit, createAudit } from './audit-trail.ts';
import { CliError, type Done, type Io, PartialError, print, printJson, say } from './io.ts';
import { type Shown, textOf } from './output.ts';
import { confirmWrite, connectTarget, operatorOf, type Target, type TargetOptions } from './target.ts';

/** What a command's action gets. */
export interface Session<Options = object> {
  readonly io: Io;
  readonly target: Target;
  readonly table: Table;
  readonly options: Options;
  /** The row of the account that `--account` names. */
  readonly account: Options extends { account: Int64 } ? AccountRow : undefined;
}

export interface WritingSession<Options = object> extends Session<Options> {
  /** If true, the action writes nothing, and only says what it would write. */
  readonly dryRun: boolean;
  /** Records every change: the action makes its changes through it. */
  readonly audit: Audit;
}

export interface AccountOptions {
  account: Int64;
}

/** What a command that reads prints: as JSON or as text. */
export interface ReadResult {
  readonly json: unknown;
  readonly show: Shown | readonly Shown[];
}

/** What a command that writes prints: what it has written, or in a dry run would write. */
export interface WriteResult extends Done {
  readonly text: string;
}

/** Milliseconds until a waiting message, and until the command gives up. */
const ANSWER_TIMEOUT = { warnAfterMs: 3_000, failAfterMs: 30_000 };

type WhenToWrite = 'never' | 'unless --dry-run' | 'if --write';
/** What a command allows that others refuse: accounts in `--account` that do not exist yet or were erased; to write on a standby. */
type Allowed = 'new accounts' | 'erased accounts' | 'standby';
type Action<ActionSession, Args extends unknown[], Result = void> = (
  session: ActionSession,
  ...args: Args
) => Promise<Result>;
type CommonOptions = TargetOptions & { dryRun?: boolean; write?: boolean; account?: Int64 | Int64[] };

const STANDBY =
  'This stack is a standby: run the command in the region that writes to the table, or fail over first (docs/failover.md).';

export const jsonOption = ['--json', 'print JSON'] as const;

/** One of the operator's commands, or a group of them. */
export class AdminCommand extends Command {
  readonly #io: Io;
  readonly #allowed = new Set<Allowed>();

  constructor(io: Io, name?: string) {
    super(name);
    this.#io = io;
  }

  override createCommand(name?: string): AdminCommand {
    return new AdminCommand(this.#io, name);
  }

  /** An option that does not collect its values is given once; and a text is not empty, as of a variable that is not set, which chooses all. */
  override addOption(option: Option): this {
    let isGiven = false;
    return super.addOption(option).on(`option:${option.name()}`, (text?: string) => {
      const isCollected = typeof this.getOptionValue(option.attributeName()) === 'object';
      if (isGiven && !isCollected) this.error(`error: option '${option.flags}' is given twice`);
      if (text === '' && !option.parseArg) this.error(`error: option '${option.flags}' is empty`);
      isGiven = text !== undefined;
    });
  }

  /** Sets the help text: a description, and examples at its end. */
  explain(description: string, ...examples: string[]): this {
    const lines = ['', 'Example:', ...examples.map((line) => `  $ npm run --silent admin -- ${line}`)];
    return this.description(description).addHelpText('after', lines.join('\n'));
  }

  /** Requires `--account`, and that the account exists. */
  ofAccount(description = 'the account'): this {
    return this.requiredOption('--account <account>', description, accountId);
  }

  allows(what: Allowed): this {
    this.#allowed.add(what);
    return this;
  }

  /** Adds an option whose default the help shows as a user would type it, such as `7d`. */
  optionWithDefault<Value>(
    flags: string,
    description: string,
    parse: (text: string) => Value,
    defaultText: string,
  ): this {
    return this.addOption(new Option(flags, description).argParser(parse).default(parse(defaultText), defaultText));
  }

  reads<Options, Args extends unknown[]>(action: Action<Session<Options>, Args>): this {
    return this.runs('never', action);
  }

  /** Runs an action that only reads, and prints its result as text or, with `--json`, as JSON. */
  shows<Options, Args extends unknown[]>(read: Action<Session<Options>, Args, ReadResult>): this {
    return this.option(...jsonOption).reads(async (session: Session<Options & { json?: boolean }>, ...args: Args) => {
      const { io, options } = session;
      const { json, show } = await read(session as Session<Options>, ...args);
      if (options.json) return printJson(io, json);
      const parts = [show].flat();
      const isEmpty = parts.every((part) => typeof part === 'object' && 'rows' in part && part.rows.length === 0);
      const width = io.stdout.isTTY ? io.stdout.columns : undefined;
      (isEmpty ? say : print)(io, parts.map((part) => textOf(part, width, parts.length > 1)).join('\n\n'));
    });
  }

  /** Runs an action that writes, unless `--dry-run` is given, and prints its result as text or, with `--json`, as JSON. */
  writes<Options, Args extends unknown[]>(action: Action<WritingSession<Options>, Args, WriteResult>): this {
    const run = async (session: WritingSession<Options & { json?: boolean }>, ...args: Args) => {
      const { io, options, dryRun } = session;
      const show = ({ lines = [], json }: Done) => {
        if (options.json) printJson(io, { dry_run: dryRun, ...json });
        else for (const line of lines) print(io, line);
      };
      const { text, ...done } = await action(session as WritingSession<Options>, ...args).catch((error) => {
        if (error instanceof PartialError) show(error.done);
        throw error;
      });
      show(done);
      if (!options.json) (dryRun ? say : print)(io, text);
    };
    return this.option('--dry-run', 'show what would be written, without writing it')
      .option(...jsonOption)
      .runs('unless --dry-run', run);
  }

  /** Runs an action on the table that the options name, after the user has confirmed a write to another machine. */
  runs<Options, Args extends unknown[]>(when: WhenToWrite, action: Action<WritingSession<Options>, Args>): this {
    return this.action(async () => {
      const io = this.#io;
      const empty = this.registeredArguments.find(({ parseArg }, index) => this.args[index] === '' && !parseArg);
      if (empty) this.error(`error: argument '${empty.name()}' is empty`);
      const options = this.optsWithGlobals<CommonOptions & Options>();
      const waitMessage = setTimeout(() => say(io, 'Still waiting for AWS.'), ANSWER_TIMEOUT.warnAfterMs);
      const target = await connectTarget(options, io.env).finally(() => clearTimeout(waitMessage));
      const onWaiting = () => say(io, 'Still waiting for DynamoDB.');
      // A command that writes checks the signal itself, so that it stops only where running it again completes the change.
      const stoppable = when === 'never' ? withSignal(target.table, io.signal) : target.table;
      const { table, stop } = withAnswerTimeout(stoppable, { ...ANSWER_TIMEOUT, onWaiting });
      try {
        const dryRun = when === 'if --write' ? !options.write : (options.dryRun ?? false);
        let by = '';
        if (when !== 'never') {
          if (dryRun)
            say(io, `Dry run: nothing is written.${when === 'if --write' ? ' Pass --write to write it.' : ''}`);
          else {
            if (target.standby && !this.#allowed.has('standby')) throw new CliError(STANDBY);
            await confirmWrite(target, options, io);
            by = await operatorOf(target);
          }
        }
        const audit = createAudit(table, this.#fullName(), by, io.now);
        let account: AccountRow | undefined;
        const accountIds = this.#allowed.has('new accounts') ? [] : [options.account ?? []].flat();
        for (const id of accountIds) account = await requireAccount(table, id, this.#allowed.has('erased accounts'));
        const session = { io, target: { ...target, table }, table, options, account, dryRun, audit };
        await action(session as WritingSession<Options>, ...(this.processedArgs as Args));
      } finally {
        stop();
        target.close();
      }
    });
  }

  /** The name with those of its groups, such as `app-key revoke`. */
  #fullName(): string {
    const { parent } = this;
    return parent instanceof AdminCommand && parent.parent ? `${parent.#fullName()} ${this.name()}` : this.name();
  }
}

/** @throws CliError if the account does not exist, or was erased although it may not be */
export async function requireAccount(table: Table, id: Int64, mayBeErased = false): Promise<AccountRow> {
  const row = await readAccount(table, id);
  if (!row) throw new CliError(`Account ${id} does not exist: \`account list\` shows all accounts.`);
  if (row.erased_at_ms !== undefined && !mayBeErased)
    throw new CliError(
      `Account ${id} was erased: only \`audit\`, \`account show\` and \`account erase\` still know it.`,
    );
  return row;
}
