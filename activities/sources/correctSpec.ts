import { DomainError, describeFirst, notFound } from '../../core/errors.ts';
import { specCorrected } from '../../core/journal/sourceNotes.ts';
import { applyCorrections, type SpecJson, validateSpec } from '../../core/structuring/index.ts';
import type { Tx } from '../../store/pg/commit.ts';
import { type SourceRecord, updateSource } from '../../store/pg/sources.ts';
import { requireIdle } from './beginSourceJob.ts';

/** Runs inside the transaction. Replaces the parse spec by one that people wrote, if it fits the file. */
export async function correctSpec(tx: Tx, sourceId: string, given: SpecJson): Promise<SourceRecord> {
  const source = await requireIdle(tx, sourceId);
  if (!source.spec || !source.extents) throw notFound('parse spec yet');
  if (given.version !== source.specVersion)
    throw new DomainError(
      'version-conflict',
      `The parse spec is at version ${source.specVersion}, not ${given.version}.`,
      'Read it again, apply your corrections to that, and send it with its version.',
      { members: { current_version: source.specVersion } },
    );
  const errors = validateSpec(source.extents, given).map(({ pointer, message }) => ({ pointer, detail: message }));
  if (given.reader.format !== source.format) errors.unshift({ pointer: '/reader/format', detail: `the file is ${source.format}` });
  if (errors.length > 0)
    throw new DomainError('validation-failed', describeFirst(errors), 'Correct what `errors` lists.', {
      errors: errors.slice(0, 50),
    });
  const specVersion = source.specVersion + 1;
  tx.note(source.workbookId, specCorrected(source, specVersion));
  return updateSource(tx, source.id, { spec: applyCorrections(source.spec, given), specVersion });
}
