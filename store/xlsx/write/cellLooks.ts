import type { ColumnType } from '../../../core/cells/columnTypes.ts';
import type { CellLook, StyleTable } from './styleTable.ts';

/** The styles of the cells of a column, by what stands in them. */
export interface CellStyles {
  plain: number;
  /** For seconds with a fraction. */
  fine: number;
  /** For values of other types that only a text can hold. */
  text: number;
  /** For texts that begin like a formula. */
  quoted: number;
}

const textFormat = '@';

/** `look` is what was wished for the cells; its number format wins over that of the type. */
export function chooseStyles(styles: StyleTable, type: ColumnType, look: CellLook): CellStyles {
  const [plain, fine] = formatsOf(type);
  const asText = { ...look, numberFormat: textFormat };
  return {
    plain: styles.number({ numberFormat: plain, ...look }),
    fine: styles.number({ numberFormat: fine, ...look }),
    text: styles.number(asText),
    quoted: styles.number({ ...asText, isQuoted: true }),
  };
}

/** Texts have the format of texts, so that what somebody types below them (`007`) stays as it is. */
function formatsOf(type: ColumnType): [plain: string, fine: string] {
  switch (type.kind) {
    case 'VARCHAR':
    case 'JSON':
      return [textFormat, textFormat];
    case 'BIGINT':
      return ['0', '0'];
    case 'DECIMAL': {
      const format = type.scale === 0 ? '0' : `0.${'0'.repeat(type.scale)}`;
      return [format, format];
    }
    case 'DATE':
      return ['yyyy-mm-dd', 'yyyy-mm-dd'];
    case 'TIMESTAMP':
      return ['yyyy-mm-dd hh:mm:ss', 'yyyy-mm-dd hh:mm:ss.000'];
    case 'TIME':
      return ['hh:mm:ss', 'hh:mm:ss.000'];
    default:
      return ['General', 'General'];
  }
}
