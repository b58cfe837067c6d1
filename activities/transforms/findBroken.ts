import { DomainError, type ProblemCode } from '../../core/errors.ts';
import type { ColumnRecord, TableAt } from '../../core/table/table.ts';
import { listReaders, type TransformRecord } from '../../store/pg/transforms.ts';
import type { Services } from '../../store/services.ts';
import { bindToColumns } from './planRun.ts';

/**
 * Names of the transforms that can be run over the table as it is, and cannot once it has these columns. What Python does with a
 * column is not known before it runs, so none in Python is among them.
 */
export async function findBroken(
  services: Services,
  userId: string,
  { table, columns }: TableAt,
  after: ColumnRecord[],
): Promise<string[]> {
  const broken: string[] = [];
  for (const reader of await listReaders(services.db.orm, table.workbookId, table.id)) {
    if (reader.language !== 'sql' || (await binds(services, userId, reader, { tableId: table.id, columns: after }))) continue;
    if (await binds(services, userId, reader, { tableId: table.id, columns })) broken.push(reader.name);
  }
  return broken;
}

const unbound: ProblemCode[] = ['query-failed', 'query-refused', 'validation-failed'];
/** Another of its tables is gone, or it takes too long to tell: a change of columns is not refused for that. */
const unknown: ProblemCode[] = ['in-use', 'query-timeout', 'query-too-large'];

async function binds(
  services: Services,
  userId: string,
  reader: TransformRecord,
  changed: { tableId: string; columns: ColumnRecord[] },
): Promise<boolean> {
  try {
    await bindToColumns(services, userId, reader, changed);
    return true;
  } catch (error) {
    if (error instanceof DomainError && unbound.includes(error.code)) return false;
    if (error instanceof DomainError && unknown.includes(error.code)) return true;
    throw error;
  }
}
