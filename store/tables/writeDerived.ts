import { stat } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Change } from '../../core/lineage/staleness.ts';
import type { CarriedOverrides } from '../../core/overrides/carryOverrides.ts';
import type { Override } from '../../core/overrides/override.ts';
import { sumLayers } from '../../core/storage/use.ts';
import { type CompactionLimits, chooseFileRows } from '../../core/table/compactionLimits.ts';
import { type Layer, rowIdColumn, type TableAt } from '../../core/table/table.ts';
import { seeEverything } from '../../core/table/visibleTable.ts';
import type { DerivedColumn } from '../../core/transforms/outputColumns.ts';
import { fieldIds, innerName } from '../duckdb/buildRelation.ts';
import { readAll, smallBytes, withRelation } from '../duckdb/engine.ts';
import { quoteName, quoteText } from '../duckdb/relation.ts';
import { isWide } from '../duckdb/wide.ts';
import { writeSelect } from '../duckdb/writeFile.ts';
import type { FileWatch } from './fileWatch.ts';
import { canMatch, listMasks, type Match, matchHashes, matchKeys, matchNothing, readMasks, readResult } from './matchDerived.ts';
import { openRelation } from './openRelation.ts';
import { putOverrides } from './putOverrides.ts';
import type { TableStorage } from './tableStorage.ts';

export interface DerivedContent {
  /** A Parquet file of the sandbox. */
  path: string;
  columns: DerivedColumn[];
  /** Ids of the key columns. Null: rows are known by their content. */
  key: number[] | null;
  /** The version before this run. Null: this is the first. */
  before: TableAt | null;
  /** Cells that keep their values, whatever the result has. */
  overrides: Override[];
  /** False: they end with this run. */
  keepsOverrides: boolean;
  /** Where the files go. */
  prefix: string;
}

export type DerivedRows =
  /** The table holds this content already. */
  | { kind: 'same' }
  | {
      kind: 'written';
      layers: Layer[];
      rowCount: number;
      inserted: number;
      deleted: number;
      nextRowId: number;
      change: Change;
      carried: CarriedOverrides;
    }
  /** `keys`: keys that are null or there twice. `range`: a whole number beyond BIGINT. */
  | { kind: 'faulty'; fault: { of: 'keys'; nulls: number; doubles: number } | { of: 'range'; column: string } };

let runs = 0;

/**
 * Gives the rows of a result the ids that they had in the version before, by key or by content, and writes them as segments in
 * order of ids, with overrides in the place of the result's values. Changes nothing but the blob store.
 */
export async function writeDerived(
  storage: TableStorage,
  content: DerivedContent,
  limits: CompactionLimits,
  watch: FileWatch,
): Promise<DerivedRows> {
  const { before } = content;
  const engine = (await isSmall(content)) ? storage.engine.small : storage.engine;
  if (!before) return engine.use((connection) => new DerivedWriter(storage, content, connection, null, limits, watch).run());
  return withRelation(engine, storage.blobs, await openRelation(storage, seeEverything(before)), (connection, from) =>
    new DerivedWriter(storage, content, connection, from, limits, watch).run(),
  );
}

async function isSmall({ path, before }: DerivedContent): Promise<boolean> {
  return (await stat(path)).size <= smallBytes && sumLayers(before?.layers ?? []) <= smallBytes;
}

/** How the rows of a result are found again in the version before, and what differs in those that are. */
interface Matched {
  rowCount: number;
  matched: number;
  /** Of all ids; null without any. */
  minRow: number | null;
  maxRow: number | null;
  /** Ids of the columns with other values. */
  changed: Set<number>;
}

class DerivedWriter {
  private readonly ids: string;
  private readonly values: string;
  private readonly match: Match;

  constructor(
    private readonly storage: TableStorage,
    private readonly content: DerivedContent,
    private readonly connection: DuckDBConnection,
    from: string | null,
    private readonly limits: CompactionLimits,
    private readonly watch: FileWatch,
  ) {
    runs += 1;
    this.ids = `svc_derived_${runs}`;
    this.values = `svc_overrides_${runs}`;
    const { path, columns, key, before } = content;
    // The values have names by id before the number is added: a column of the result may have any name.
    const rows = `(SELECT row_number() OVER () AS ord, * FROM ${readResult(path, columns)})`;
    this.match = { rows, from, before, columns, known: key ? columns.filter(({ id }) => key.includes(id)) : columns };
  }

  async run(): Promise<DerivedRows> {
    try {
      const beyond = await this.findBeyond();
      if (beyond !== null) return { kind: 'faulty', fault: { of: 'range', column: beyond } };
      const keys = await this.countBadKeys();
      if (keys.nulls + keys.doubles > 0) return { kind: 'faulty', fault: { of: 'keys', ...keys } };
      return await this.write(keys.rows);
    } finally {
      await this.connection.run(`DROP TABLE IF EXISTS ${this.ids}; DROP TABLE IF EXISTS ${this.values}`);
    }
  }

  private async findBeyond(): Promise<string | null> {
    const wide = this.content.columns.filter(
      ({ conversion, resultType }) => conversion === 'whole-number' && /^U?HUGEINT$|^UBIGINT$|^BIGNUM$/.test(resultType),
    );
    if (wide.length === 0) return null;
    const beyond = wide.map(
      ({ resultName }) =>
        `count(*) FILTER (WHERE ${quoteName(resultName)} IS NOT NULL AND TRY_CAST(${quoteName(resultName)} AS BIGINT) IS NULL)::DOUBLE`,
    );
    const [row] = await readAll(this.connection, `SELECT ${beyond.join(', ')} FROM read_parquet(${quoteText(this.content.path)})`);
    return wide.find((_, i) => (row?.[i] as number) > 0)?.name ?? null;
  }

  /** `rows`: how many the result has; null without a key. */
  private async countBadKeys(): Promise<{ nulls: number; doubles: number; rows: number | null }> {
    const { key, columns } = this.content;
    if (!key) return { nulls: 0, doubles: 0, rows: null };
    const names = key.map(innerName);
    const rows = readResult(
      this.content.path,
      columns.filter(({ id }) => key.includes(id)),
    );
    const [row] = await readAll(
      this.connection,
      `SELECT coalesce(sum(n) FILTER (WHERE ${names.map((name) => `${name} IS NULL`).join(' OR ')}), 0)::DOUBLE, count(*) FILTER (WHERE n > 1)::DOUBLE,
         coalesce(sum(n), 0)::DOUBLE
       FROM (SELECT ${names.join(', ')}, count(*) AS n FROM ${rows} GROUP BY ALL)`,
    );
    return { nulls: row?.[0] as number, doubles: row?.[1] as number, rows: row?.[2] as number };
  }

  private async write(rows: number | null): Promise<DerivedRows> {
    const { before, columns } = this.content;
    const next = before?.table.nextRowId ?? 1;
    const found = await this.giveIds(next, rows);
    const { rowCount, matched } = found;
    const { ids, values } = this;
    const { shown, carried } = await putOverrides(this.connection, { ...this.content, ...this.match, ids, values });
    const changed = shown === null ? found.changed : (await this.sumUp()).changed;
    const oldRows = before?.rowCount ?? 0;
    const isSameShape = before !== null && hasSameColumns(before, columns);
    const isSameRows = isSameShape && rowCount === oldRows && matched === oldRows;
    // Edits that were planned on other values below overrides must notice, so these make a version, too.
    if (isSameRows && changed.size === 0 && carried.moved.length + carried.gone.length === 0) return { kind: 'same' };
    const change: Change = isSameRows ? { rows: false, columns: changed } : { rows: true, columns: new Set() };
    const layers = await this.writeSegments(shown ?? this.match.rows, found);
    return {
      kind: 'written',
      layers,
      rowCount,
      inserted: rowCount - matched,
      deleted: oldRows - matched,
      nextRowId: next + rowCount - matched,
      change,
      carried,
    };
  }

  /** Makes the table of ids: those of matching rows of the version before; the others get new ones in the order of the result. */
  private async giveIds(next: number, rows: number | null): Promise<Matched> {
    const { columns, key } = this.content;
    const isKeyed = key !== null && !isWide(columns);
    const fill = async (select: string) => {
      await this.connection.run(`CREATE OR REPLACE TEMP TABLE ${this.ids} AS ${select}`);
      return this.sumUp();
    };
    let found = await fill(!canMatch(this.match) ? matchNothing(this.match) : isKeyed ? matchKeys(this.match) : matchHashes(this.match));
    // The version before was made by another key, and has rows with the same values in this one.
    if (rows !== null && found.rowCount > rows) found = await fill(matchHashes(this.match));
    const added = found.rowCount - found.matched;
    if (added === 0) return found;
    await this.connection.run(
      `UPDATE ${this.ids} SET id = ${next - 1} + added.n
       FROM (SELECT ord, row_number() OVER (ORDER BY ord) AS n FROM ${this.ids} WHERE old_id IS NULL) added WHERE added.ord = ${this.ids}.ord`,
    );
    return { ...found, minRow: found.minRow ?? next, maxRow: next - 1 + added };
  }

  private async sumUp(): Promise<Matched> {
    const { columns } = this.content;
    const masks = listMasks(columns).map((mask) => `bit_or(${mask})`);
    const sums = `SELECT count(*)::DOUBLE, count(old_id)::DOUBLE, min(id)::DOUBLE, max(id)::DOUBLE, ${masks.join(', ')} FROM ${this.ids}`;
    const [row = []] = await readAll(this.connection, sums);
    const [rowCount, matched, minRow, maxRow, ...bits] = row as [number, number, number | null, number | null, ...(bigint | null)[]];
    return { rowCount, matched, minRow, maxRow, changed: readMasks(columns, bits) };
  }

  private async writeSegments(shown: string, { rowCount, minRow, maxRow }: Matched): Promise<Layer[]> {
    const { path, columns, prefix } = this.content;
    // Files of tables are not compressed, as those of results are.
    const rowBytes = (4 * (await stat(path)).size) / Math.max(1, rowCount);
    const fileRows = chooseFileRows(rowCount, rowBytes, this.limits);
    const spans =
      rowCount === 0
        ? []
        : rowCount <= fileRows
          ? [[minRow, maxRow, rowCount]]
          : await readAll(
              this.connection,
              `SELECT min(id)::DOUBLE, max(id)::DOUBLE, count(*)::DOUBLE
       FROM (SELECT id, (row_number() OVER (ORDER BY id) - 1) // ${fileRows} AS part FROM ${this.ids}) GROUP BY part ORDER BY part`,
            );
    const file = [
      { id: fieldIds.rowId, name: rowIdColumn, type: 'BIGINT' },
      ...columns.map(({ id, type }) => ({ id, name: innerName(id), type })),
    ];
    const list = columns.map(({ id }) => `r.${innerName(id)}`).join(', ');
    const layers: Layer[] = [];
    for (const [minRow, maxRow, rows] of spans as [number, number, number][]) {
      this.watch.step();
      const select = `SELECT i.id AS ${rowIdColumn}, ${list} FROM ${shown} r JOIN ${this.ids} i ON i.ord = r.ord WHERE i.id BETWEEN ${minRow} AND ${maxRow} ORDER BY i.id`;
      const written = await writeSelect(this.storage, prefix, file, this.connection, select);
      this.watch.wrote(written.key);
      layers.push({ kind: 'segment', ...written, rows, minRow, maxRow });
    }
    return layers;
  }
}

const hasSameColumns = (before: TableAt, columns: DerivedColumn[]) =>
  before.columns.length === columns.length && before.columns.every(({ id, name }, i) => id === columns[i]?.id && name === columns[i]?.name);
