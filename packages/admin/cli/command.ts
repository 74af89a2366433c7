import { Command, Option } from 'commander';
import type { Table } from '../../../lib/dynamodb/client.ts';
import type { AccountRow } from '../../../lib/dynamodb/rows.ts';
import type { Int64 } from '../../../lib/shared/json.ts';
import { readAccount } from '../accounts/accounts.ts';
import { withPatience } from '../local-service/patience.ts';
import { accountId } from './arguments.ts';
import { type Audit, createAudit } from './audited.ts';
import { CliError, type Io, print, printJson, say } from './io.ts';
import { callerOf, confirmWrite, connectTarget, type Target, type TargetOptions } from './target.ts';

/** The context of an action. */
export interface Session<Options = object> {
  readonly io: Io;
  readonly target: Target;
  readonly table: Table;
  readonly options: Options;
  /** The row of the account that `--account` names. */
  readonly account: Options extends { account: Int64 } ? AccountRow : undefined;
}

export interface WritingSession<Options = object> extends Session<Options> {
  /** Only says what would be written. */
  readonly dryRun: boolean;
  /** Every change goes through it. */
  readonly audit: Audit;
}

export interface AccountOptions {
  account: Int64;
}

export interface Shown {
  readonly json: unknown;
  readonly text: () => string;
  /** Printed when there is nothing to show. */
  readonly ifEmpty?: string | false;
}

/** The writes of a command, or with `--dry-run` those that it would make. */
export interface Written {
  readonly text: string;
  /** Printed before the text: the planned writes, one by one. */
  readonly lines?: readonly string[];
  readonly json: object;
}

/** Milliseconds until a waiting message, and until the command gives up. */
const PATIENCE = { sayMs: 3_000, endMs: 30_000 };

type Kind = 'reads' | 'writes';
type Act<Of, Args extends unknown[], Result = void> = (session: Of, ...args: Args) => Promise<Result>;

/** One of the operator's commands, or a group of them. */
export class AdminCommand extends Command {
  readonly #io: Io;
  #createsAccounts = false;
  #costText: ((options: never) => string) | undefined;

  constructor(io: Io, name?: string) {
    super(name);
    this.#io = io;
  }

  override createCommand(name?: string): AdminCommand {
    return new AdminCommand(this.#io, name);
  }

  /** Its help, which ends with examples. */
  explain(description: string, ...examples: string[]): this {
    const lines = ['', 'Example:', ...examples.map((line) => `  $ npm run --silent admin -- ${line}`)];
    return this.description(description).addHelpText('after', lines.join('\n'));
  }

  /** Requires `--account`, and that there is such an account. */
  ofAccount(description = 'the account'): this {
    return this.requiredOption('--account <account>', description, accountId);
  }

  /** The accounts that `--account` names need not exist yet. */
  createsAccounts(): this {
    this.#createsAccounts = true;
    return this;
  }

  /** Its cost on AWS, printed before it asks for confirmation. */
  costs<Options>(text: (options: Options) => string): this {
    this.#costText = text;
    return this;
  }

  /** An option whose default the help shows as a user would type it. */
  optionOr<Value>(flags: string, description: string, parse: (text: string) => Value, otherwise: string): this {
    return this.addOption(new Option(flags, description).argParser(parse).default(parse(otherwise), otherwise));
  }

  reads<Options, Args extends unknown[]>(act: Act<Session<Options>, Args>): this {
    return this.runs(() => 'reads', act);
  }

  /** Reads, and prints what it has found as text or, with `--json`, as JSON. */
  shows<Options, Args extends unknown[]>(look: Act<Session<Options>, Args, Shown>): this {
    return this.option(...jsonOption).reads(async (session: Session<Options & { json?: boolean }>, ...args: Args) => {
      const { io, options } = session;
      const { json, text, ifEmpty } = await look(session as Session<Options>, ...args);
      if (options.json) printJson(io, json);
      else if (ifEmpty) say(io, ifEmpty);
      else print(io, text());
    });
  }

  /** Writes, or with `--dry-run` only says what it would write: as text or, with `--json`, as JSON. */
  writes<Options, Args extends unknown[]>(act: Act<WritingSession<Options>, Args, Written>): this {
    return this.option('--dry-run', 'show what would be written, without writing it').reports(() => 'writes', act);
  }

  /** Like {@link writes}, depending on its options. */
  reports<Options, Args extends unknown[]>(
    kindOf: (options: Options) => Kind,
    act: Act<WritingSession<Options>, Args, Written>,
  ): this {
    const run = async (session: WritingSession<Options & { json?: boolean }>, ...args: Args) => {
      const { io, options } = session;
      const { text, lines = [], json } = await act(session as WritingSession<Options>, ...args);
      const dryRun = session.dryRun || kindOf(options) === 'reads';
      if (options.json) printJson(io, { dry_run: dryRun, ...json });
      else {
        for (const one of lines) print(io, one);
        (dryRun ? say : print)(io, text);
      }
    };
    return this.option(...jsonOption).runs(kindOf, run);
  }

  /** Runs an action on the target that the options name. One that writes asks for confirmation where required. */
  runs<Options, Args extends unknown[]>(
    kindOf: (options: Options) => Kind,
    act: Act<WritingSession<Options>, Args>,
  ): this {
    return this.action(async () => {
      const io = this.#io;
      const options = this.optsWithGlobals<CommonOptions & Options>();
      const waiting = setTimeout(() => say(io, 'Still waiting for AWS.'), PATIENCE.sayMs);
      const target = await connectTarget(options, io.env).finally(() => clearTimeout(waiting));
      const patient = withPatience(target.table, {
        ...PATIENCE,
        onWaiting: () => say(io, 'Still waiting for DynamoDB.'),
      });
      const { table } = patient;
      try {
        const isWriting = kindOf(options) === 'writes';
        const dryRun = options.dryRun ?? false;
        if (isWriting && target.endpoint === undefined && this.#costText) say(io, this.#costText(options as never));
        if (isWriting && dryRun) say(io, 'Dry run: nothing is written.');
        else if (isWriting) await confirmWrite(target, options, io);
        const by = isWriting && !dryRun ? await callerOf(target) : '';
        const audit = createAudit(table, this.#words(), by, io.now);
        let account: AccountRow | undefined;
        const named = this.#createsAccounts ? [] : [options.account ?? []].flat();
        for (const id of named) account = await requireAccount(table, id);
        const session = {
          io,
          target: { ...target, table },
          table,
          options,
          account,
          dryRun,
          audit,
        } as WritingSession<Options>;
        await act(session, ...(this.processedArgs as Args));
      } finally {
        patient.stop();
        target.close();
      }
    });
  }

  /** Such as `app-key revoke`. */
  #words(): string {
    const { parent } = this;
    return parent instanceof AdminCommand && parent.parent ? `${parent.#words()} ${this.name()}` : this.name();
  }
}

type CommonOptions = TargetOptions & { dryRun?: boolean; account?: Int64 | Int64[] };

export const jsonOption = ['--json', 'print JSON'] as const;

/** @throws CliError when there is no such account */
export async function requireAccount(table: Table, id: Int64): Promise<AccountRow> {
  const row = await readAccount(table, id);
  if (!row) throw new CliError(`Account ${id} does not exist: \`account list\` shows all accounts.`);
  return row;
}
