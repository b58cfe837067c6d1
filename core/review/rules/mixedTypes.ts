import type { Draft } from '../finding.ts';
import { kindOfValue, type Reviewed } from '../region.ts';

const leastCells = 8;

/** Columns in which a few cells are of another kind than all others. */
export function findMixedTypes({ region, summaries }: Reviewed): Draft[] {
  return region.columns.flatMap((column, k): Draft[] => {
    const summary = summaries[k];
    if (!summary || summary.filled < leastCells || summary.kind === 'empty') return [];
    const { kind } = summary;
    // Names may hold anything; but a number among names without any digit is none.
    if (
      kind === 'text' &&
      (summary.numbers !== 1 || column.values.some((value) => kindOfValue(value) === 'text' && /\d/.test(String(value))))
    )
      return [];
    const odd = column.values.flatMap((value, row) => {
      const own = kindOfValue(value);
      return own === 'empty' || own === (kind ?? 'number') ? [] : [row];
    });
    if (odd.length === 0) return [];
    if (kind === null)
      return Math.min(summary.numbers, summary.texts) * 4 < summary.filled
        ? []
        : [
            {
              severity: 'info',
              message: `${column.name} holds ${summary.numbers} numbers and ${summary.texts} texts.`,
              spots: odd.slice(0, 5).map((row) => ({ row, column: k })),
              suggestedFix: 'Give numbers and remarks a column each.',
            },
          ];
    return [
      {
        severity: 'warning',
        message: `${column.name} holds ${kind}s, but for ${odd.length} of ${summary.filled} cells: ${odd
          .slice(0, 3)
          .map((row) => JSON.stringify(column.values[row]))
          .join(', ')}.`,
        spots: odd.map((row) => ({ row, column: k })),
        suggestedFix: `Check whether they stand in the right column; write ${kind}s as ${kind}s, or leave the cells blank.`,
      },
    ];
  });
}
