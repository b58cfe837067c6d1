import type { LayeredEntry } from './log.ts';
import { type Cells, type FileLayer, type Layer, newVersion, type PlannedLayer, type RowSelection, type TableAt } from './table.ts';

/** Whether a layer can hold any of these rows. Only segments know their range of row ids. */
export function mayHold(layer: Layer, wanted: RowSelection): boolean {
  if (layer.kind !== 'segment') return true;
  if ('ids' in wanted) return wanted.ids.some((id) => id >= layer.minRow && id <= layer.maxRow);
  return layer.minRow <= wanted.max && layer.maxRow >= wanted.min;
}

/** The entries of a log layer that belong to a version: `after < edit_version <= upTo`. */
export interface LogRange {
  /** Index of the layer. */
  layer: number;
  after: number;
  upTo: number;
}

type VersionLayers = Pick<TableAt, 'layers' | 'editVersion'>;

/** The log layers of a version, cut off at that version; empty ones are left out. */
export function listLogRanges({ layers, editVersion }: VersionLayers): LogRange[] {
  return layers.flatMap((layer, index) => {
    if (layer.kind !== 'log') return [];
    const upTo = Math.min(layer.upTo ?? editVersion, editVersion);
    return upTo > layer.after ? [{ layer: index, after: layer.after, upTo }] : [];
  });
}

/** The layers of a version with the open log closed, so that another layer can be added. */
export function closeLog(at: VersionLayers): Layer[] {
  const ranges = new Map(listLogRanges(at).map((range) => [range.layer, range]));
  return at.layers.flatMap((layer, index): Layer[] => {
    if (layer.kind !== 'log') return [layer];
    const range = ranges.get(index);
    return range ? [{ kind: 'log', after: range.after, upTo: range.upTo }] : [];
  });
}

/** The open log layer of the version being made. */
export const openLog: PlannedLayer = { kind: 'log', after: newVersion, upTo: null };

type Told<Word> = Iterable<readonly [rowId: number, word: Word]> | null;

/**
 * Merges what the layers of a version say about rows. The later layer wins: layers are read from the last to the first, and the
 * first that knows a row decides. `ask` receives what is decided so far; if it returns null, the result is null.
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

/** What a file says about a row: its cells as text by column id, or that it was removed. */
export type FoundRow = { removed: true } | { removed: false; cells: Cells };

type FoundRows = Map<number, FoundRow>;

/**
 * The cells of rows at a version; null for a removed row. `entries` are the newest ones of the log layers. `readFile` returns
 * null if it cannot read the file, and the result is then null.
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
