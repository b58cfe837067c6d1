import { DomainError } from '../../core/errors.ts';
import type { Services } from '../../store/services.ts';

/** Whether any column policy exists in the workbook. */
export async function isGoverned(_services: Services, _workbookId: string): Promise<boolean> {
  return false;
}

/** Raw bytes know no policies: on a governed workbook they are shown to nobody. */
export async function refuseGoverned(services: Services, workbookId: string): Promise<void> {
  if (!(await isGoverned(services, workbookId))) return;
  throw new DomainError(
    'governed-workbook',
    'The workbook has column policies, which the original file does not follow.',
    'Read the tables instead; they are shown as the policies say.',
  );
}
