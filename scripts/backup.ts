import { makeBackup } from '../activities/backup/makeBackup.ts';
import { checkBackup } from '../activities/backup/restoreBackup.ts';
import { describeError } from '../store/lifecycle.ts';
import { readArguments, withBackupParts } from './backupParts.ts';
import { openOutput } from './embedded/report.ts';

/** `npm run backup [-- place] [--check]`: a backup of database and files while the service runs, read back whole with --check. */
const report = openOutput();
try {
  const { config, options } = readArguments(process.argv.slice(3), ['--check']);
  const manifest = await withBackupParts(config, report, 'backup', async (parts) => {
    const made = await makeBackup(parts);
    if (options.has('--check')) await checkBackup(parts, made.name, parts.blobs);
    return made;
  });
  const rows = manifest.tables.reduce((sum, table) => sum + table.rows, 0);
  report.say(`Backup ${manifest.name}: ${rows} rows and ${manifest.files.count} files, as of ${manifest.takenAt}.`);
  report.say('SVC_SECRET is not part of it. Keep it in another safe place: a restore needs it.');
  if (manifest.lost.length > 0) {
    report.say(`${manifest.lost.length} files are missing or damaged in the blob store, and so in the backup:`, 'error');
    for (const key of manifest.lost.slice(0, 20)) report.say(`  ${key}`, 'error');
    process.exitCode = 2;
  }
} catch (error) {
  report.say(describeError(error), 'error');
  process.exitCode = 1;
}
