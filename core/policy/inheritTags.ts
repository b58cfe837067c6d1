import { type ColumnPlace, listReached, type TagEdge } from './tagFlows.ts';

export interface PlacedTag extends ColumnPlace {
  tag: string;
}

export interface InheritedTag extends PlacedTag {
  from: ColumnPlace;
}

/**
 * The tags that the columns of a table get from its inputs. `held`: those that it has, and those that somebody took off, which
 * do not come again.
 */
export function inheritTags(
  edges: readonly Pick<TagEdge, 'input' | 'output' | 'flows'>[],
  columns: readonly number[],
  tagsOfInputs: readonly PlacedTag[],
  held: readonly PlacedTag[],
): InheritedTag[] {
  const keyOf = ({ column, tag }: Pick<PlacedTag, 'column' | 'tag'>) => `${column} ${tag}`;
  const known = new Set(held.map(keyOf));
  const inherited: InheritedTag[] = [];
  for (const edge of edges)
    for (const { table, column: from, tag } of tagsOfInputs) {
      if (table !== edge.input) continue;
      for (const column of listReached(edge, from, () => columns)) {
        if (known.has(keyOf({ column, tag }))) continue;
        known.add(keyOf({ column, tag }));
        inherited.push({ table: edge.output, column, tag, from: { table, column: from } });
      }
    }
  return inherited;
}
