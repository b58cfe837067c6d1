/** Some rows as canonical texts (core/cells/castValue.ts), column by column. */
export interface TextBatch {
  rowCount: number;
  texts: (string | null)[][];
}
