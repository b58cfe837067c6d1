import type { Draft } from '../finding.ts';
import type { Reviewed, Value } from '../region.ts';

const keyName =
  /(?:^|[_\s])(?:id|key|code|no\.|sku|isbn|(?:account|order|invoice|serial|customer|employee) (?:no|number))$|(?:コード|番号|ID|ＩＤ|キー|No\.?)$/i;
const leastRows = 10;
/** A column whose values come again on more rows than this is no key. */
const repeatShare = 0.05;

/** Values that come twice in a column whose values come once otherwise, and whose name says that they should. */
export function findDuplicateKeys({ region }: Reviewed): Draft[] {
  return region.columns.flatMap((column, k): Draft[] => {
    if (!keyName.test(column.name.trim())) return [];
    const rowsOf = new Map<Value, number[]>();
    column.values.forEach((value, row) => {
      if (value === null) return;
      const rows = rowsOf.get(value);
      if (rows) rows.push(row);
      else rowsOf.set(value, [row]);
    });
    const repeated = [...rowsOf.entries()].filter(([, rows]) => rows.length > 1);
    const extra = repeated.reduce((sum, [, rows]) => sum + rows.length - 1, 0);
    if (extra === 0 || rowsOf.size < leastRows || extra > Math.max(1, region.rowCount * repeatShare)) return [];
    return repeated.map(([value, rows]) => ({
      severity: 'warning' as const,
      message: `${column.name} ${String(value)} is given to ${rows.length} rows; ${rowsOf.size - repeated.length} others are given once.`,
      spots: rows.map((row) => ({ row, column: k })),
      suggestedFix: 'Give each row a value of its own, or remove the row that is there twice.',
    }));
  });
}
