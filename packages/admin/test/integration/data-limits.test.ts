/** The limits of import and export: odd field names, rows that DynamoDB refuses, short key ids, devices as files. */
import { lstatSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { collections } from '../../../../lib/dynamodb/keys.ts';
import { newAccountId } from '../../../../test/support/accounts.ts';
import { connectAgain, newTable, storedUnder } from '../../../../test/support/service.ts';
import { listAppKeys, readAccount } from '../../accounts/accounts.ts';
import { loadData } from '../../data/load.ts';
import { accountLine, itemLine, lines } from '../support/data-lines.ts';
import { adminOf } from '../support/run-admin.ts';

const folder = mkdtempSync(join(tmpdir(), 'data-'));
const table = await newTable();
const admin = adminOf(table);

describe('import', () => {
  it('stores fields of any name, and export returns them', async () => {
    const id = newAccountId();
    const odd = { constructor: { name: 'Set' }, toString: 1, list: [{ constructor: null, hasOwnProperty: [true] }] };
    const item = itemLine(id, { odd, constructor: 'top' });
    expect(await admin('import -', { stdin: lines(accountLine(id), item) })).toMatchObject({ exitCode: 0 });
    const { out } = await admin(`export --account ${id}`);
    expect(JSON.parse(out.split('\n')[1] ?? '')).toEqual(item);
  });

  it('names the line and the id of a row that DynamoDB refuses, and has written the rows before it', async () => {
    const id = newAccountId();
    const refusing = connectAgain(table);
    refusing.client.middlewareStack.add(
      (next) => async (args) => {
        if (!JSON.stringify(args.input).includes('"refused"')) return next(args);
        throw Object.assign(new Error('One or more parameter values were invalid'), { name: 'ValidationException' });
      },
      { step: 'initialize' },
    );
    const members = ['Ada', 'refused', 'Bea'].map((name, index) => ({
      ...{ kind: 'member', account_id: id, member_id: index, name },
    }));
    const text = lines(accountLine(id), ...members).split('\n');
    await expect(loadData(refusing, 'data.ndjson', text, { nowSeconds: 0 })).rejects.toThrow(
      `data.ndjson:3: member ${id} 1 cannot be written: One or more parameter values were invalid`,
    );
    expect(await storedUnder(table, collections.members(id))).toMatchObject([{ name: 'Ada' }]);
  });
});

describe('an id of a key', () => {
  it.each(['revoke', 'rotate'])(
    'must have at least 8 characters to %s the key, so that an empty one matches no key',
    async (verb) => {
      const id = newAccountId();
      await admin(['account', 'create', String(id), '--name', 'Acme']);
      await admin(['app-key', 'issue', '--account', String(id)]);
      const row = await readAccount(table, id);
      const [key] = row ? await listAppKeys(table, row) : [];
      for (const short of ['', key?.hash.slice(0, 7) ?? '']) {
        const err = 'Give at least 8 characters of the id.\n';
        expect(await admin(['app-key', verb, short, '--account', String(id)])).toEqual({ exitCode: 1, out: '', err });
      }
      expect((await admin(['app-key', verb, key?.hash.slice(0, 8) ?? '', '--account', String(id)])).exitCode).toBe(0);
    },
  );
});

describe('export', () => {
  it('is written directly to a device, and reports a full disk', async () => {
    const id = newAccountId();
    await admin('import -', { stdin: lines(accountLine(id)) });
    const exportTo = (file: string) => admin(`export --account ${id} --out ${file}`);
    const full = /^Cannot write \S+full: the disk is full\. Free some space, or choose another --out\.\n$/;
    for (const [device, expected] of [
      ['null', { exitCode: 0 }],
      ['full', { exitCode: 1, err: expect.stringMatching(full) }],
    ] as const) {
      // Links, so that a fault replaces no device.
      const link = join(folder, device);
      symlinkSync(`/dev/${device}`, link);
      expect(await exportTo(link)).toMatchObject(expected);
      expect(lstatSync(link).isSymbolicLink()).toBe(true);
      rmSync(link);
    }
    expect(readdirSync(folder)).toEqual([]);
  });
});
