import type { NamingChoice } from '../../core/structuring/index.ts';
import type { Orm } from '../../store/pg/database.ts';
import { findWorkspaceOf } from '../../store/pg/workspaces.ts';

/** The language in which the workbook's workspace wants generated names. */
export async function findNaming(orm: Orm, workbookId: string): Promise<NamingChoice> {
  return (await findWorkspaceOf(orm, workbookId))?.naming ?? 'ja';
}
