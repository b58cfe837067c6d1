import type { RevisedColumn } from './reviseColumns.ts';

/** A column that the old file and the new one have with the same type. */
export type SharedColumn = RevisedColumn & { base: NonNullable<RevisedColumn['base']>; next: NonNullable<RevisedColumn['next']> };

export function listShared(columns: RevisedColumn[]): SharedColumn[] {
  return columns.filter((each): each is SharedColumn => each.base !== null && each.next !== null && each.base.type === each.next.type);
}

const mostKeyColumns = 6;

/**
 * The columns that may tell the rows of a table apart: those on the left, up to the first that measures something. A number can
 * be a code or a year where it stands first; elsewhere it is rather a quantity, which is different in each row by chance.
 */
export function listKeyCandidates(columns: RevisedColumn[]): SharedColumn[] {
  const shared = listShared(columns).slice(0, mostKeyColumns);
  const end = shared.findIndex(({ base: { type } }, i) => !/^(VARCHAR|DATE|TIMESTAMP)$/.test(type) && !(i === 0 && type === 'BIGINT'));
  return end < 0 ? shared : shared.slice(0, end);
}
