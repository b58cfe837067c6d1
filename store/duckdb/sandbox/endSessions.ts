import { removeSessionFolder } from './folders.ts';
import type { QueryProcess } from './process.ts';

const endTimeoutMs = 10_000;

/** Ends sessions in the process, then removes their files. */
export async function endSessions(process: QueryProcess, ids: string[]): Promise<void> {
  if (ids.length === 0 || process.gone) return;
  await process.ask({ op: 'end', sessions: ids }, endTimeoutMs);
  for (const id of ids) await removeSessionFolder(process.folders, id);
}
