/** The names that structuring makes up, in each language: endings of table names, columns and kinds of rows. */

import type { Grid } from '../../grid/grid.ts';

export type NamingLanguage = 'ja' | 'en';

/** What a workspace asks for. `auto`: English for files without Japanese, Japanese for all others. */
export type NamingChoice = NamingLanguage | 'auto';

export interface Naming {
  /** Endings of table names. */
  level(level: number): string;
  computed: string;
  accounts: string;
  notes: string;
  /** The ending of the table of a sheet's form fields, one of its notes. */
  fields: string;
  /** The ending of a raw table whose place structured tables have taken. */
  archivedRaw: string;
  period: string;
  periodStart: string;
  /** A measure that the header does not name. */
  value: string;
  /** A column of labels, and any other column, without a header. */
  nameless: { label: string; column(position: number): string };
  account: string;
  /** What names a part of a list, on a line of its own. */
  section: string;
  /** The ancestors of an account, from the outermost. */
  ancestor(level: number): string;
  accountColumns: { id: string; parentId: string; level: string; position: string; kind: string; formula: string };
  accountKinds: { detail: string; computed: string; subtotal: string };
  noteColumns: { position: string; kind: string; content: string; cell: string; table: string };
  fieldColumns: { position: string; label: string; value: string; type: string; cell: string; table: string };
  noteKinds: { pair: string; title: string; unit: string; note: string };
}

const namings: Record<NamingLanguage, Naming> = {
  ja: {
    level: (level) => `_階層${level}`,
    computed: '_計算項目',
    accounts: '_科目',
    notes: '_補足情報',
    fields: '_項目_補足情報',
    archivedRaw: '_原本',
    period: '期間',
    periodStart: '期間開始',
    value: '値',
    nameless: { label: '項目', column: (position) => `列${position}` },
    account: '科目',
    section: '区分',
    ancestor: (level) => `科目_階層${level}`,
    accountColumns: { id: '科目ID', parentId: '親科目ID', level: '階層', position: '順序', kind: '種別', formula: '計算式' },
    accountKinds: { detail: '明細', computed: '計算', subtotal: '小計' },
    noteColumns: { position: '順序', kind: '種別', content: '内容', cell: 'セル', table: '対象テーブル' },
    fieldColumns: { position: '順序', label: '項目', value: '値', type: '型', cell: 'セル', table: '対象テーブル' },
    noteKinds: { pair: '項目', title: 'タイトル', unit: '単位', note: '注記' },
  },
  en: {
    level: (level) => `_level${level}`,
    computed: '_computed',
    accounts: '_accounts',
    notes: '_notes',
    fields: '_fields_notes',
    archivedRaw: '_raw',
    period: 'period',
    periodStart: 'period_start',
    value: 'value',
    nameless: { label: 'item', column: (position) => `column${position}` },
    account: 'account',
    section: 'section',
    ancestor: (level) => `account_level${level}`,
    accountColumns: { id: 'account_id', parentId: 'parent_id', level: 'level', position: 'position', kind: 'kind', formula: 'formula' },
    accountKinds: { detail: 'detail', computed: 'computed', subtotal: 'subtotal' },
    noteColumns: { position: 'position', kind: 'kind', content: 'content', cell: 'cell', table: 'table' },
    fieldColumns: { position: 'position', label: 'field', value: 'value', type: 'type', cell: 'cell', table: 'table' },
    noteKinds: { pair: 'item', title: 'title', unit: 'unit', note: 'note' },
  },
};

/** Specs of earlier versions of the service do not say their language: they are Japanese. */
export function namingOf(spec: { naming?: NamingLanguage } | null | undefined): Naming {
  return namings[spec?.naming ?? 'ja'];
}

/** Whether a column got its name because its header is blank. */
export function isMadeUpName(name: string): boolean {
  const position = Number(/\d+$/.exec(name)?.[0]);
  return Object.values(namings).some(({ nameless }) => nameless.column(position) === name);
}

/** `texts` are those of the file: its name, sheets and cells. */
export function chooseLanguage(choice: NamingChoice, ...texts: Iterable<string>[]): NamingLanguage {
  if (choice !== 'auto') return choice;
  for (const some of texts) for (const text of some) if (hasJapanese(text)) return 'ja';
  return 'en';
}

export function listTexts(grids: Grid[]): string[][] {
  return grids.flatMap(({ sheet, strings }) => [[sheet], strings]);
}

/** Kana or kanji. */
export function hasJapanese(text: string): boolean {
  return /[ぁ-んァ-ヶ一-龠]/.test(text);
}
