import type { LayeredEntry } from './log.ts';
import { type Cells, type FileLayer, type Layer, newVersion, type PlannedLayer, type RowSelection, type TableAt } from './table.ts';

/** Whether a layer could say anything of these rows. Only segments tell which they hold. */
export function mayHold(layer: Layer, wanted: RowSelection): boolean {
  if (layer.kind !== 'segment') return true;
  if ('ids' in wanted) return wanted.ids.some((id) => id >= layer.minRow && id <= layer.maxRow);
  return layer.minRow <= wanted.max && layer.maxRow >= wanted.min;
}

/** The entries of a log layer that belong to a version: `after < edit_version <= upTo`. */
export interface LogRange {
  /** Its place among the layers. */
  layer: number;
  after: number;
  upTo: number;
}

type VersionLayers = Pick<TableAt, 'layers' | 'editVersion'>;

/** The log layers of a version, as far as they belong to it; those that hold nothing are left out. */
export function listLogRanges({ layers, editVersion }: VersionLayers): LogRange[] {
  return layers.flatMap((layer, index) => {
    if (layer.kind !== 'log') return [];
    const upTo = Math.min(layer.upTo ?? editVersion, editVersion);
    return upTo > layer.after ? [{ layer: index, after: layer.after, upTo }] : [];
  });
}

/** A version's layers with the open log closed at it, ready for another layer on top. */
export function closeLog(at: VersionLayers): Layer[] {
  const ranges = new Map(listLogRanges(at).map((range) => [range.layer, range]));
  return at.layers.flatMap((layer, index): Layer[] => {
    if (layer.kind !== 'log') return [layer];
    const range = ranges.get(index);
    return range ? [{ kind: 'log', after: range.after, upTo: range.upTo }] : [];
  });
}

/** The log of a version that is being made. */
export const openLog: PlannedLayer = { kind: 'log', after: newVersion, upTo: null };

type Told<Word> = Iterable<readonly [rowId: number, word: Word]> | null;

/**
 * What the layers of a version say of rows. The later layer wins: they are asked from the last one down, and the first
 * that knows a row has the final word. `ask` is told what is settled already; when it answers null, all is given up.
 */
export async function settleLayers<Word>(
  layers: Layer[],
  ask: (layer: Layer, index: number, settled: ReadonlyMap<number, Word>) => Told<Word> | Promise<Told<Word>>,
): Promise<Map<number, Word> | null> {
  const settled = new Map<number, Word>();
  for (const [index, layer] of [...layers.entries()].reverse()) {
    const told = await ask(layer, index, settled);
    if (!told) return null;
    for (const [rowId, word] of told) if (!settled.has(rowId)) settled.set(rowId, word);
  }
  return settled;
}

/** What a file says of a row: its cells as text by column id, or that it was removed. */
export type FoundRow = { removed: true } | { removed: false; cells: Cells };

type FoundRows = Map<number, FoundRow>;

/**
 * The cells of rows at a version, null for a row that is removed. `entries` are the newest ones of the log layers; files
 * are read by the caller, who answers null when he cannot.
 */
export async function settleRows(
  layers: Layer[],
  entries: LayeredEntry[],
  readFile: (layer: FileLayer, settled: ReadonlyMap<number, Cells | null>) => FoundRows | null | Promise<FoundRows | null>,
): Promise<Map<number, Cells | null> | null> {
  return settleLayers<Cells | null>(layers, async (layer, index, settled) => {
    if (layer.kind === 'log') return entries.filter((entry) => entry.layer === index).map(({ rowId, cells }) => [rowId, cells] as const);
    const found = await readFile(layer, settled);
    return found && Array.from(found, ([rowId, row]) => [rowId, row.removed ? null : row.cells] as const);
  });
}
