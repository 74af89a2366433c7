import { expect } from 'vitest';
import { HOSTS } from '../hosts.ts';
import { NOT_SPECIFIED, type Requirements, todo } from '../requirement.ts';
import { type Item, wholeFleet } from './common.ts';
import { hasStatus } from './fleet-host.ts';
import { workItem } from './records.ts';

export const states = {
  'active: a fresh snapshot and no degradation': hasStatus('active', ['active', 'active-polling', 'active-aging']),
  'degraded: health is newer than the snapshot': hasStatus('degraded', ['degraded-health']),
  'degraded: the snapshot is truncated or degraded': hasStatus('degraded', ['degraded-truncated', 'degraded-snapshot']),
  'degraded: collection fails': hasStatus('degraded', ['failing']),
  'stale: no new snapshot for twice the report interval': hasStatus('stale', ['stale']),
  'initializing: the capability is reported, the first snapshot is not ready': hasStatus('initializing', [
    'initializing',
  ]),
  'disabled: collection is disabled on the host': hasStatus('disabled', ['switched-off', 'disabled']),
  'unsupported: agent or kernel does not support it': hasStatus('unsupported', ['unsupported']),
  'no_data: no snapshot or health data at all': hasStatus('no_data', ['no-data']),
  'capability_status is for example running, disabled, starting, failed or unsupported': async (api) => {
    const { items } = await wholeFleet(api);
    const reported = items.map(({ servicemap }: Item) => servicemap.capability_status);
    for (const { host } of HOSTS) expect(reported).toContain(host.capability_status);
  },
  'freshness_status is fresh, stale or unknown: each occurs': async (api) => {
    const { items } = await wholeFleet(api);
    const values = new Set(items.map(({ servicemap }: Item) => servicemap.freshness_status));
    expect([...values].sort()).toEqual(['fresh', 'stale', 'unknown']);
  },
  'A deleted work item is soft-deleted: kept, and marked':
    workItem['Deletion is soft: the record is kept, marked deleted'],
  'States of the RUM resource, work items, alerts and incidents; all transitions': todo(NOT_SPECIFIED),
} satisfies Requirements;
