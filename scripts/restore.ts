import { checkBackup, restoreBackup } from '../activities/backup/restoreBackup.ts';
import { describeError } from '../store/lifecycle.ts';
import { readArguments, withBackupParts } from './backupParts.ts';
import { openOutput } from './embedded/report.ts';

/** `npm run restore [-- place] [--name=…] [--other-secret] [--continue] [--check]`: a backup into an empty database and an empty blob store. */
const report = openOutput();
try {
  const { config, options, value } = readArguments(process.argv.slice(3), ['--name', '--other-secret', '--continue', '--check']);
  const name = value('--name');
  await withBackupParts(config, report, 'restore', async (parts) => {
    if (options.has('--check')) {
      const { name: checked } = await checkBackup(parts, name);
      return report.say(`The backup ${checked} is whole. Nothing was restored.`);
    }
    const manifest = await restoreBackup(parts, { name, otherSecret: options.has('--other-secret'), goOn: options.has('--continue') });
    report.say(`Restored ${manifest.name}: everything is as it was at ${manifest.takenAt}.`);
    if (manifest.lost.length > 0) report.say(`${manifest.lost.length} files were lost before the backup was made.`, 'warn');
    report.say('Start the service with the same SVC_SECRET. Give it an empty Temporal namespace, or another TEMPORAL_TASK_QUEUE:');
    report.say('jobs that had not begun are started, and those that were running end as failed within a quarter of an hour.');
  });
} catch (error) {
  report.say(describeError(error), 'error');
  process.exitCode = 1;
}
