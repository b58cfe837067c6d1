/** What people should know of a file that was structured. */

/**
 * `missing_mark`: marks such as `-` and `n/a`, and error values, are NULL in a column of numbers or dates. `forced_text`: a column
 * of numbers is text because of a few cells. `no_value`: formulas that have no stored result and cannot be computed. `stale_result`:
 * formulas whose stored result is another than they give.
 */
export type FindingKind =
  | 'total_mismatch'
  | 'not_understood'
  | 'conservation'
  | 'missing_mark'
  | 'forced_text'
  | 'no_value'
  | 'stale_result';

/** One for each cause and table. */
export interface Finding {
  kind: FindingKind;
  sheet: string;
  table: string;
  /** The first cell it is about; empty for a whole sheet. */
  cell: string;
  /** How many cells it is about, and the first of them; absent for one. */
  count?: number;
  cells?: string[];
  stated: number | null;
  computed: number | null;
  message: string;
}
