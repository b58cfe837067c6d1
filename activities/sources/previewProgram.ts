import { DomainError } from '../../core/errors.ts';
import { openLocalRecords } from '../../store/records/openLocalRecords.ts';
import { type PreviewWanted, readPreview } from './readPreview.ts';

/** The process that reads a file for a preview: what is wanted is its argument, what it found goes to its output. */

const wanted = JSON.parse(process.argv[2] ?? '') as PreviewWanted;
try {
  const preview = await readPreview(wanted, () => openLocalRecords(wanted.path, wanted.format));
  process.stdout.write(JSON.stringify(preview));
} catch (error) {
  if (!(error instanceof DomainError)) throw error;
  const { code, detail, suggestedFix, extras } = error;
  process.stdout.write(JSON.stringify({ refusal: { code, detail, suggestedFix, errors: extras.errors } }));
}
