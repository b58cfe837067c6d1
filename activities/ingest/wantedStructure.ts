import { listLayouts } from '../../store/pg/layouts.ts';
import { findStructuring, type SourceRecord } from '../../store/pg/sources.ts';
import type { Services } from '../../store/services.ts';
import type { WantedStructure } from './fileProgram/requests.ts';
import { findNaming } from './findNaming.ts';
import type { SourceFile } from './readSourceFile.ts';

/** How a source's file is to be structured. */
export async function findWantedStructure({ db }: Services, source: SourceRecord, { sha256 }: SourceFile): Promise<WantedStructure> {
  const known = await findStructuring(db.orm, source.accountId, sha256);
  return {
    sourceName: source.name,
    // A source keeps the language in which its tables were named first, so that a revision finds them again.
    naming: source.spec ? (source.spec.naming ?? 'ja') : null,
    choice: await findNaming(db.orm, source.workbookId),
    known: known?.state === 'ready' && known.spec !== null ? { spec: known.spec, filename: known.filename } : null,
    layouts: await listLayouts(db.orm, source.accountId),
  };
}
