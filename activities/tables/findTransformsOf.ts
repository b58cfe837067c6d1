import type { TableRecord } from '../../core/table/table.ts';
import { type Freshness, fresh } from '../../core/transforms/transform.ts';
import { listTableNames, listTransformsOfOutputs, readFreshness } from '../../store/pg/transforms.ts';
import type { Services } from '../../store/services.ts';

/** What derives a table. */
export interface TransformOfTable {
  name: string;
  language: 'sql' | 'python';
  /** Names of the tables that it reads. */
  inputs: string[];
  key: string[] | null;
  freshness: Freshness;
}

/** By id of the output. Base tables cost nothing. */
export async function findTransformsOf({ db }: Services, tables: TableRecord[]): Promise<Map<string, TransformOfTable>> {
  const derived = tables.filter(({ layer }) => layer !== 'base').map(({ id }) => id);
  if (derived.length === 0) return new Map();
  const transforms = await listTransformsOfOutputs(db.orm, derived);
  const inputIds = transforms.flatMap(({ args }) => Object.values(args));
  const [names, freshness] = await Promise.all([
    listTableNames(db.orm, [...new Set(inputIds)]),
    readFreshness(
      db.pool,
      transforms.map(({ id }) => id),
    ),
  ]);
  return new Map(
    transforms.map(({ id, outputId, name, language, key, args }) => [
      outputId as string,
      {
        name,
        language,
        key,
        inputs: [...new Set(Object.values(args))].map((input) => names.get(input) ?? input),
        freshness: freshness.get(id) ?? fresh,
      },
    ]),
  );
}
