import type { MadeTable } from './fileProgram/requests.ts';
import type { WrittenTable } from './landTables.ts';
import type { OpenFile } from './workOnFile.ts';
import type { TableTarget } from './writeTables.ts';

/** Lets the process write the tables that it has made, and puts their files into the blob store. */
export async function keepTables(
  file: OpenFile,
  made: MadeTable[],
  places: TableTarget[],
  step: (done: number, total: number | null) => void,
): Promise<WrittenTable[]> {
  const written = made.length > 0 ? await file.ask('writeTables', { places }, ({ done, total }) => step(done, total)) : [];
  return file.keepFiles(written, (_, index) => places[index]?.prefix ?? '');
}
