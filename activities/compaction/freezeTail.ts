import type { LayeredEntry } from '../../core/table/log.ts';
import type { Layer, TableAt } from '../../core/table/table.ts';
import { tablePrefix } from '../../store/blobs/keys.ts';
import { writeDelta } from '../../store/duckdb/writeFile.ts';
import type { Services } from '../../store/services.ts';
import type { FileWatch } from '../../store/tables/fileWatch.ts';
import { readLogLayers } from '../../store/tables/readLogLayers.ts';

/** Replaces each log layer up to the version by a delta. The entries stay in the log, for history. */
export async function freezeTail(services: Services, at: TableAt, watch: FileWatch): Promise<Layer[]> {
  const byLayer = new Map<number, LayeredEntry[]>();
  for (const entry of await readLogLayers(services, at, null)) {
    const entries = byLayer.get(entry.layer);
    if (entries) entries.push(entry);
    else byLayer.set(entry.layer, [entry]);
  }
  const layers: Layer[] = [];
  for (const [index, layer] of at.layers.entries()) {
    if (layer.kind !== 'log') {
      layers.push(layer);
      continue;
    }
    // The later log layer wins, so only the newest entry of each row was read.
    const entries = byLayer.get(index);
    if (!entries) continue;
    watch.step();
    const file = await writeDelta(
      services,
      tablePrefix(at.table),
      at.columns,
      entries.map((entry) => withDefaults(at, entry)),
    );
    watch.wrote(file.key);
    layers.push({
      kind: 'delta',
      ...file,
      rows: entries.length,
      after: layer.after,
      upTo: Math.min(layer.upTo ?? at.editVersion, at.editVersion),
    });
  }
  return layers;
}

/** Entries from before a column was added lack it, which means its default; in a file a missing value would be null. */
function withDefaults(at: TableAt, entry: LayeredEntry): LayeredEntry {
  const { cells } = entry;
  if (cells === null) return entry;
  const whole = at.columns.map((column) => [column.id, column.id in cells ? (cells[column.id] ?? null) : column.defaultText] as const);
  return { ...entry, cells: Object.fromEntries(whole) };
}
