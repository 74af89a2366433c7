import { Annotations, type Stack } from 'aws-cdk-lib';
import { reservedExecutions } from './concurrency.ts';
import type { DeploymentSettings } from './stack-settings.ts';

/** Prints notices at `cdk synth` and `cdk deploy`: how concurrency is divided, and settings that may be a mistake. */
export function addNotices(stack: Stack, settings: DeploymentSettings): void {
  const { reservedConcurrency, mergeConcurrency, feedConcurrency, alarmEmail, alarmTopicArn, ephemeral } = settings;
  const notices = Annotations.of(stack);
  notices.addInfoV2(
    'service:concurrency',
    `Concurrent executions: ${
      reservedConcurrency === 0
        ? 'none is reserved, so merges or callers without a key can leave too few for the authorizer and the reads (setting reservedConcurrency)'
        : `${reservedConcurrency} reserved, ${reservedExecutions('usage-key-authorizer', reservedConcurrency)} of them for the authorizer and at most ${reservedExecutions('merge-alerts', reservedConcurrency)} for merges`
    }; at most ${mergeConcurrency} large merges are finished, and ${feedConcurrency} batches of the feed are written, at a time.`,
  );
  if (settings.writesFrozen)
    notices.addWarningV2(
      'service:frozen',
      'FROZEN: deletions and merges are refused, and records sent to the feed wait (writesFrozen).',
    );
  if (ephemeral)
    notices.addWarningV2('service:ephemeral', 'EPHEMERAL: the table and its data are deleted with this stack.');
  else if (alarmEmail === undefined && alarmTopicArn === undefined)
    notices.addWarningV2('service:alarms', 'Alarms reach nobody: set alarmEmail or alarmTopicArn (docs/deploy.md).');
}
