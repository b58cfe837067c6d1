import { decide, flatten, type Origin, type PartOrigins, unite } from './relation.ts';

/** The columns and rows of two joined parts; null for a kind of join that is not known. */
export function joinParts(kind: string, left: PartOrigins, right: PartOrigins, condition: Origin): PartOrigins | null {
  if (!left.columns) return null;
  const conditions = flatten(condition);
  const rows = unite(left.rows, right.rows, conditions);
  switch (kind) {
    case 'INNER':
    case 'LEFT':
    case 'RIGHT':
    case 'FULL':
      return right.columns && { columns: [...left.columns, ...right.columns], rows };
    case 'SEMI':
    case 'ANTI':
      return { columns: left.columns, rows };
    // One more column says whether there was a match; every row of the left remains.
    case 'MARK':
      return { columns: [...left.columns, decide(condition, right.rows)], rows: left.rows };
    // Every row of the left remains, with the one match of the right or NULLs.
    case 'SINGLE': {
      const by = unite(conditions, right.rows);
      return right.columns && { columns: [...left.columns, ...right.columns.map((origin) => decide(origin, by))], rows: left.rows };
    }
    default:
      return null;
  }
}
