import { stat } from 'node:fs/promises';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Change } from '../../core/lineage/staleness.ts';
import { type CarriedOverrides, carryOverrides } from '../../core/overrides/carryOverrides.ts';
import type { Override } from '../../core/overrides/override.ts';
import { type CompactionLimits, chooseFileRows } from '../../core/table/compactionLimits.ts';
import { type Cells, type Layer, rowIdColumn, type TableAt } from '../../core/table/table.ts';
import { seeEverything } from '../../core/table/visibleTable.ts';
import type { DerivedColumn } from '../../core/transforms/outputColumns.ts';
import { fieldIds, innerName } from '../duckdb/buildRelation.ts';
import { cellText } from '../duckdb/cellText.ts';
import { readAll, withRelation } from '../duckdb/engine.ts';
import { createTailTable, quoteName, quoteText } from '../duckdb/relation.ts';
import { isWide } from '../duckdb/wide.ts';
import { writeSelect } from '../duckdb/writeFile.ts';
import type { FileWatch } from './fileWatch.ts';
import { findOldName, hashNew, hashOld, matchHashes, matchKeys, readResult } from './matchDerived.ts';
import { openRelation } from './openRelation.ts';
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
  if (!before) return storage.engine.use((connection) => new DerivedWriter(storage, content, connection, null, limits, watch).run());
  return withRelation(storage.engine, storage.blobs, await openRelation(storage, seeEverything(before)), (connection, from) =>
    new DerivedWriter(storage, content, connection, from, limits, watch).run(),
  );
}

class DerivedWriter {
  private readonly ids: string;
  private readonly overridden: string;
  /** The rows of the result. */
  private readonly rows: string;
  /** The rows of the table: those of the result with overrides in their place. */
  private shown: string;

  constructor(
    private readonly storage: TableStorage,
    private readonly content: DerivedContent,
    private readonly connection: DuckDBConnection,
    private readonly from: string | null,
    private readonly limits: CompactionLimits,
    private readonly watch: FileWatch,
  ) {
    runs += 1;
    this.ids = `svc_derived_${runs}`;
    this.overridden = `svc_overridden_${runs}`;
    // The values have names by id before the number is added: a column of the result may have any name.
    this.rows = `(SELECT row_number() OVER () AS ord, * FROM ${readResult(content.path, content.columns)})`;
    this.shown = this.rows;
  }

  async run(): Promise<DerivedRows> {
    try {
      const beyond = await this.findBeyond();
      if (beyond !== null) return { kind: 'faulty', fault: { of: 'range', column: beyond } };
      const keys = await this.countBadKeys();
      if (keys.nulls + keys.doubles > 0) return { kind: 'faulty', fault: { of: 'keys', ...keys } };
      return await this.write(keys.rows);
    } finally {
      await this.connection.run(`DROP TABLE IF EXISTS ${this.ids}; DROP TABLE IF EXISTS ${this.overridden}`);
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
    const { rowCount, matched } = await this.giveIds(next, rows);
    const carried = await this.carry();
    const [row] = await readAll(
      this.connection,
      `SELECT coalesce(bool_and(same), true), min(id)::DOUBLE, max(id)::DOUBLE FROM ${this.ids}`,
    );
    const [same, minRow, maxRow] = row as [boolean, number, number];
    const oldRows = before?.rowCount ?? 0;
    const isSameShape = before !== null && hasSameColumns(before, columns);
    const isSameRows = isSameShape && rowCount === oldRows && matched === oldRows;
    // Edits that were planned on other values below overrides must notice, so these make a version, too.
    if (isSameRows && same && carried.moved.length + carried.gone.length === 0) return { kind: 'same' };
    const change: Change = isSameRows ? { rows: false, columns: await this.findChanged() } : { rows: true, columns: new Set() };
    const layers = await this.writeSegments({ rowCount, minRow, maxRow });
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

  /** Puts overrides on top of the rows; returns what the result has in their cells. */
  private async carry(): Promise<CarriedOverrides> {
    const { overrides, columns, keepsOverrides } = this.content;
    const cells = new Map<number, Cells>();
    for (const { rowId, columnId, value } of overrides) cells.set(rowId, { ...cells.get(rowId), [columnId]: value });
    const ids = new Set(overrides.map(({ columnId }) => columnId));
    const chosen = columns.filter(({ id }) => ids.has(id));
    if (chosen.length === 0 || !keepsOverrides) return carryOverrides(overrides, new Map(), columns);
    const isSet = (id: number) => `s${id}`;
    const loaded = [
      { name: 'id', type: 'BIGINT', path: '$[0]' },
      ...chosen.flatMap(({ id, type }) => [
        { name: innerName(id), type, path: `$[1]."${id}"` },
        { name: isSet(id), type: 'BOOLEAN', path: `$[2]."${id}"` },
      ]),
    ];
    const items = [...cells].map(([rowId, values]) => [rowId, values, Object.fromEntries(Object.keys(values).map((id) => [id, 'true']))]);
    await this.connection.run(createTailTable(this.overridden, loaded), [JSON.stringify(items)]);
    const list = columns.map(({ id }) => {
      const name = innerName(id);
      return ids.has(id) ? `CASE WHEN o.${isSet(id)} THEN o.${name} ELSE r.${name} END AS ${name}` : `r.${name}`;
    });
    this.shown = `(SELECT r.ord, ${list.join(', ')} FROM ${this.rows} r
      LEFT JOIN (SELECT i.ord, v.* FROM ${this.ids} i JOIN ${this.overridden} v ON v.id = i.id) o ON o.ord = r.ord)`;
    await this.compareOverridden();
    return carryOverrides(overrides, await this.readBelow(chosen), columns);
  }

  /** Whether overridden rows are the same as before was told by what the result has in them; now it is told by what they show. */
  private async compareOverridden(): Promise<void> {
    const { columns } = this.content;
    if (this.from === null) return;
    const isSame = `${hashNew('f', columns)} = ${hashOld('o', columns, this.content.before)}`;
    await this.connection.run(
      `UPDATE ${this.ids} SET same = compared.same FROM (
         SELECT i.ord, ${isSame} AS same FROM ${this.shown} f JOIN ${this.ids} i ON i.ord = f.ord JOIN ${this.from} o ON o.${rowIdColumn} = i.old_id
         WHERE i.id IN (SELECT id FROM ${this.overridden})) compared WHERE compared.ord = ${this.ids}.ord`,
    );
  }

  private async readBelow(chosen: DerivedColumn[]): Promise<Map<number, Cells>> {
    const texts = chosen.map(({ id, type }) => `replace(${cellText(`r.${innerName(id)}`, type)}, chr(0), '\uFFFD')`);
    const rows = await readAll(
      this.connection,
      `SELECT i.id::DOUBLE, ${texts.join(', ')} FROM ${this.rows} r JOIN ${this.ids} i ON i.ord = r.ord
       WHERE i.id IN (SELECT id FROM ${this.overridden})`,
    );
    return new Map(
      rows.map(([rowId, ...values]) => [
        rowId as number,
        Object.fromEntries(chosen.map(({ id }, i) => [id, (values[i] ?? null) as string | null])),
      ]),
    );
  }

  /** Makes the table of ids: those of matching rows of the version before; the others get new ones in the order of the result. */
  private async giveIds(next: number, rows: number | null): Promise<{ rowCount: number; matched: number }> {
    const { columns, key, before } = this.content;
    const known = key ? columns.filter(({ id }) => key.includes(id)) : columns;
    const canMatch = known.every((column) => findOldName(column, before) !== null);
    const fill = async (select: string) => {
      await this.connection.run(`CREATE OR REPLACE TEMP TABLE ${this.ids} AS ${select}`);
      return (await readAll(this.connection, `SELECT count(*)::DOUBLE, count(old_id)::DOUBLE FROM ${this.ids}`))[0] as [number, number];
    };
    const isKeyed = key !== null && canMatch && !isWide(columns);
    const match = { rows: this.rows, from: this.from, columns, known, before };
    let [rowCount, matched] = await fill(
      !canMatch || this.from === null
        ? `SELECT ord, NULL::BIGINT AS old_id, NULL::BIGINT AS id, false AS same FROM ${this.rows}`
        : isKeyed
          ? matchKeys(match)
          : matchHashes(match),
    );
    // The version before was made by another key, and has rows with the same values in this one.
    if (rows !== null && rowCount > rows) [rowCount, matched] = await fill(matchHashes(match));
    if (matched < rowCount)
      await this.connection.run(
        `UPDATE ${this.ids} SET id = ${next - 1} + added.n
         FROM (SELECT ord, row_number() OVER (ORDER BY ord) AS n FROM ${this.ids} WHERE old_id IS NULL) added WHERE added.ord = ${this.ids}.ord`,
      );
    return { rowCount, matched };
  }

  /** Columns that hold other values in some row; all of them where there are very many. */
  private async findChanged(): Promise<Set<number>> {
    const { columns, before } = this.content;
    if (isWide(columns) || !before) return new Set(columns.map(({ id }) => id));
    const names = new Map(before.columns.map(({ id, name }) => [id, name]));
    const differ = columns.map(
      ({ id }) => `bool_or(CAST(f.${innerName(id)} AS VARCHAR) IS DISTINCT FROM CAST(o.${quoteName(names.get(id) ?? '')} AS VARCHAR))`,
    );
    const [row] = await readAll(
      this.connection,
      `SELECT ${differ.join(', ')} FROM ${this.shown} f JOIN ${this.ids} i ON i.ord = f.ord JOIN ${this.from} o ON o.${rowIdColumn} = i.id WHERE NOT i.same`,
    );
    return new Set(columns.flatMap(({ id }, i) => (row?.[i] === true ? [id] : [])));
  }

  private async writeSegments({ rowCount, minRow, maxRow }: { rowCount: number; minRow: number; maxRow: number }): Promise<Layer[]> {
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
      const select = `SELECT i.id AS ${rowIdColumn}, ${list} FROM ${this.shown} r JOIN ${this.ids} i ON i.ord = r.ord WHERE i.id BETWEEN ${minRow} AND ${maxRow} ORDER BY i.id`;
      const written = await writeSelect(this.storage, prefix, file, this.connection, select);
      this.watch.wrote(written.key);
      layers.push({ kind: 'segment', ...written, rows, minRow, maxRow });
    }
    return layers;
  }
}

const hasSameColumns = (before: TableAt, columns: DerivedColumn[]) =>
  before.columns.length === columns.length && before.columns.every(({ id, name }, i) => id === columns[i]?.id && name === columns[i]?.name);
