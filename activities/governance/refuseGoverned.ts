import { DomainError } from '../../core/errors.ts';
import { listHiddenSources } from '../../store/pg/governance.ts';
import type { Services } from '../../store/services.ts';

/** Policies cannot be applied to raw bytes, so a governed workbook shows them to nobody. */
export async function refuseGoverned(services: Services, workbookId: string): Promise<void> {
  if (!(await services.policies.isGoverned(workbookId))) return;
  throw new DomainError(
    'governed-workbook',
    'The workbook has column policies, which the original file does not follow.',
    'Read the tables instead; they are shown as the policies say.',
  );
}

/** A parse spec names all columns of its file, also those that policies hide in the tables that were made from it. */
export async function refuseHidden(services: Services, source: { id: string }): Promise<void> {
  if ((await listHiddenSources(services.db.pool, [source.id])).size === 0) return;
  throw new DomainError(
    'governed-workbook',
    'Columns of this source are tagged and the workbook has column policies, which the parse spec does not follow.',
    'Read the tables instead; they are shown as the policies say.',
  );
}
