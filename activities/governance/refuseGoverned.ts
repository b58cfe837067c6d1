import { DomainError } from '../../core/errors.ts';
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
