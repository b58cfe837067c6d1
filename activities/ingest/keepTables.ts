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
  return file.keepEach(written, async (table, index) => {
    const prefix = places[index]?.prefix ?? '';
    return {
      ...table,
      layers: await file.keepLayers(prefix, table.layers),
      provenanceKey: table.provenanceKey && (await file.keep(prefix, table.provenanceKey)).key,
      kept: table.kept && { ...table.kept, key: (await file.keep(prefix, table.kept.key)).key },
    };
  });
}
