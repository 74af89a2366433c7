/**
 * The previous release and this tree serve one table during an update, and after a rollback: whichever answers a call, the
 * contract holds.
 */
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FunctionName } from '../../infra/grants.ts';
import { browseFleet, mergeAlerts, type Operation } from '../../lib/http/operations.ts';
import { SEED } from '../support/chance.ts';
import { messagesOf } from '../support/finish.ts';
import { grantedTo, requiredPermissions } from '../support/grants.ts';
import { expectTrueFeeds, newAccount } from '../support/incidents.ts';
import {
  callMerge,
  callsWith,
  command,
  compare,
  finishAllMerges,
  mergesOf,
  newModelAndTenant,
  type Real,
} from '../support/merge-commands.ts';
import { type Release, startReleases } from '../support/releases.ts';
import { type Answer, type EventOptions, eventFor, newTable } from '../support/service.ts';

const SEQUENCES = 30;
const RACES = 15;
/** Sizes of the groups in which alerts are merged. The larger groups together need several transactions, each of at most 100 items. */
const GROUPS = [1, 1, 2, 30, 80] as const;

const table = await newTable();
let releases: Release[];
beforeAll(async () => {
  releases = await startReleases(table);
}, 15 * 60_000); // the previous release may have to install its packages
afterAll(() => Promise.all(releases.map((release) => release.stop())));

/** Sends a call to one of the releases. @param tries maximum attempts: a 503, which a busy machine causes, is repeated */
async function call(releaseIndex: number, operation: Operation, options: EventOptions, tries = 5): Promise<Answer> {
  const answer = await (releases[releaseIndex] as Release).call(operation.name, eventFor(operation, options));
  return answer.status === 503 && tries > 1 ? call(releaseIndex, operation, options, tries - 1) : answer;
}

/** Hands entries of a feed to finish-merges of one of the releases, and again if it fails, as Lambda does. */
async function finishBy(releaseIndex: number, feed: Record<string, unknown>[], tries = 10): Promise<void> {
  try {
    await (releases[releaseIndex] as Release).finish(messagesOf(feed));
  } catch (error) {
    if (tries === 1) throw error;
    await finishBy(releaseIndex, feed, tries - 1);
  }
}

/** Index of the release that answers the next calls of a sequence. */
let answering = 0;
const switchRelease = command('switch to the other release', async () => {
  answering = 1 - answering;
});

/** A new account, the model of it, and a service whose calls one of the releases answers. */
async function newModelAndReleases() {
  const { model, ...scene } = await newModelAndTenant(table, GROUPS);
  answering = 0;
  let hasPlan = false;
  const real: Real = {
    ...scene,
    table,
    through: table,
    plan(plan) {
      hasPlan = plan !== undefined;
      (releases[answering] as Release).proxy.plan(plan);
    },
    // A merge with a planned fault is not repeated: the model takes its outcome from what is stored.
    call: (operation, options) => call(answering, operation, options, hasPlan ? 1 : 5),
    finish: (feed) => finishBy(answering, feed),
  };
  return { model, real };
}

const releaseIndexes = fc.constantFrom(0, 1);
const merges = mergesOf(GROUPS.length);

describe(`two releases on one table (SEED=${SEED})`, () => {
  it(
    'any sequence of calls, each answered by either release, has the outcome that a model of the contract predicts',
    async () => {
      const calls = callsWith(merges, 'kill', 'kill-before', 'drop', 'throttle', 'conflict');
      // About every third command switches to the other release.
      const sequences = fc.commands([...calls, ...Array.from({ length: 3 }, () => fc.constant(switchRelease))], {
        maxCommands: 12,
      });
      await fc.assert(
        fc.asyncProperty(sequences, async (sequence) => {
          const { model, real } = await newModelAndReleases();
          await fc.asyncModelRun(async () => ({ model, real }), sequence);
          await compare(model, real);
        }),
        { numRuns: SEQUENCES, seed: SEED, endOnFailure: process.env.SEED === undefined },
      );
    },
    5 * 60_000,
  );

  it(
    'merges sent to both at once leave each alert in the incident that the feeds, read in order, lead to',
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(releaseIndexes, merges), { minLength: 2, maxLength: 4 }),
          releaseIndexes,
          async (sent, last) => {
            const { real } = await newModelAndReleases();
            const racing = sent.map(([release, merge], index) =>
              callMerge({ ...real, call: (...args) => call(release, ...args) }, merge, `race ${index}`),
            );
            for (const { status } of await Promise.all(racing)) expect([200, 503]).toContain(status);
            answering = last;
            await finishAllMerges(real);
            await expectTrueFeeds(real.tenant, real.incidents, real.groups.flat());
          },
        ),
        { numRuns: RACES, seed: SEED, endOnFailure: process.env.SEED === undefined },
      );
    },
    5 * 60_000,
  );

  it('the grants of this tree allow every call that the previous release makes to the table', async () => {
    const [{ proxy }] = releases as [Release];
    const used = new Map<FunctionName, Set<string>>();
    const recordUse = async (name: FunctionName, use: () => Promise<unknown>) => {
      proxy.plan();
      await use();
      const required = proxy.calls.flatMap(({ action, body }) => requiredPermissions(action, JSON.parse(body)));
      used.set(name, (used.get(name) ?? new Set()).union(new Set(required)));
    };
    const tenant = await newAccount(table);
    const { appKey } = tenant;
    await tenant.member(1);
    const [to, other] = [await tenant.incident(), await tenant.incident()];
    const alerts = await tenant.alerts(150);
    const merge = (body: object) =>
      recordUse('merge-alerts', async () => {
        const headers = { 'Idempotency-Key': JSON.stringify(body).slice(-200) };
        expect((await call(0, mergeAlerts, { appKey, body, headers })).status).toBe(200);
      });
    await merge({ alert_ids: alerts.slice(0, 2), incident_id: to });
    await merge({ alert_ids: alerts.slice(0, 3), incident_id: to, owner_id: 1, title: 'New' });
    await merge({ alert_ids: alerts, incident_id: other });
    const finishAll = () =>
      recordUse('finish-merges', async () => finishBy(0, [...(await tenant.feed(to)), ...(await tenant.feed(other))]));
    await finishAll();
    // The first transaction is the commit; the process is killed at it, so that finish-merges has to make the moves.
    const cut = { appKey, body: { alert_ids: alerts, incident_id: to }, headers: { 'Idempotency-Key': 'cut' } };
    for (let tries = 0; tries < 5 && (await tenant.pending()).length === 0; tries += 1) {
      proxy.plan(({ action }) => (action === 'TransactWriteItems' ? 'kill' : undefined));
      await call(0, mergeAlerts, cut, 1);
    }
    expect(await tenant.pending()).toHaveLength(1);
    await finishAll();
    expect(await tenant.pending()).toEqual([]);
    for (const [name, required] of used) {
      const { all, previous } = grantedTo(name);
      expect([name, ...required.difference(all)]).toEqual([name]);
      // What is granted only for the previous release is still needed.
      expect([name, ...previous.difference(required)]).toEqual([name]);
    }
  });

  it('both count against the same limit of fleet browse', async () => {
    const second = () => Math.floor(Date.now() / 1_000);
    for (;;) {
      // A new account each time, until all calls fall into one second of the clock.
      const { appKey } = await newAccount(table);
      await sleep(1_000 - (Date.now() % 1_000));
      const began = second();
      const calls = Array.from({ length: 8 }, (_, index) => call(index % 2, browseFleet, { appKey, body: {} }));
      const accepted = (await Promise.all(calls)).filter(({ status }) => status === 200).length;
      if (second() > began) continue;
      expect(accepted).toBe(2);
      return;
    }
  });

  it(
    'an account and a key made by the commands of either release are valid in both, until either revokes the key',
    async () => {
      const admin = async ({ tree, endpoint }: Release, ...args: string[]) => {
        const target = ['--endpoint', endpoint, '--table', table.name];
        const options = { cwd: tree, env: { PATH: process.env.PATH } };
        return promisify(execFile)('npm', ['run', '--silent', 'admin', '--', ...target, ...args], options);
      };
      for (const [index, release] of releases.entries()) {
        const account = String(900 + index);
        await admin(release, 'account', 'create', account, '--name', 'Acme', '--permission', 'monit');
        const { stdout, stderr } = await admin(release, 'app-key', 'issue', '--account', account);
        const event = eventFor(browseFleet, { appKey: stdout.trim(), body: {} });
        const statuses = () =>
          Promise.all(releases.map(async ({ call }) => (await call(browseFleet.name, event)).status));
        expect(await statuses()).toEqual([200, 200]);
        const [, id = ''] = /Its id is (\w+)/.exec(stderr) ?? [];
        await admin(releases[1 - index] as Release, 'app-key', 'revoke', id, '--account', account);
        expect(await statuses()).toEqual([401, 401]);
      }
    },
    2 * 60_000,
  );
});
