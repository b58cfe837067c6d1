/** What a table should be, told as simply as possible: every version is a whole copy. */
export interface ModelColumn {
  id: number;
  name: string;
  type: 'BIGINT' | 'VARCHAR';
}

export interface ModelState {
  columns: ModelColumn[];
  rows: Map<number, Map<number, string | null>>;
}

export class TableModel {
  /** By version; there is no version 0. */
  readonly versions: ModelState[] = [];
  private nextColumnId: number;

  constructor(columns: { name: string; type: 'BIGINT' | 'VARCHAR' }[]) {
    this.versions[1] = { columns: columns.map((column, i) => ({ ...column, id: i + 1 })), rows: new Map() };
    this.nextColumnId = columns.length + 1;
  }

  get version(): number {
    return this.versions.length - 1;
  }

  get now(): ModelState {
    return this.versions[this.version] as ModelState;
  }

  upsert(rows: { rowId: number; cells: Record<string, string | null> }[]): void {
    this.next((state) => {
      for (const { rowId, cells } of rows) {
        const old = state.rows.get(rowId) ?? new Map(state.columns.map((column) => [column.id, null]));
        for (const column of state.columns) if (column.name in cells) old.set(column.id, cells[column.name] ?? null);
        state.rows.set(rowId, old);
      }
    });
  }

  remove(rowIds: number[]): void {
    this.next((state) => {
      for (const id of rowIds) state.rows.delete(id);
    });
  }

  addColumn(name: string, type: 'BIGINT' | 'VARCHAR', value: string | null): void {
    const id = this.nextColumnId;
    this.nextColumnId += 1;
    this.next((state) => {
      state.columns.push({ id, name, type });
      for (const row of state.rows.values()) row.set(id, value);
    });
  }

  renameColumn(id: number, name: string): void {
    this.next((state) => {
      for (const column of state.columns) if (column.id === id) column.name = name;
    });
  }

  /** The texts stay what they are: those that would not are refused. */
  retypeColumn(id: number, type: 'BIGINT' | 'VARCHAR'): void {
    this.next((state) => {
      for (const column of state.columns) if (column.id === id) column.type = type;
    });
  }

  dropColumn(id: number): void {
    this.next((state) => {
      state.columns = state.columns.filter((column) => column.id !== id);
      for (const row of state.rows.values()) row.delete(id);
    });
  }

  /** The content of an older version as the next one; of its rows alone for an undo. */
  bringBack(version: number): void {
    this.versions.push(copy(this.versions[version] as ModelState));
  }

  /** As the store gives it: names, types and rows of text in row order, the row id last. */
  contentAt(version: number): { columns: [string, string][]; rows: (string | null)[][] } {
    const { columns, rows } = this.versions[version] as ModelState;
    return {
      columns: columns.map((column) => [column.name, column.type]),
      rows: [...rows]
        .sort(([a], [b]) => a - b)
        .map(([rowId, cells]) => [...columns.map((column) => cells.get(column.id) ?? null), String(rowId)]),
    };
  }

  private next(change: (state: ModelState) => void): void {
    const state = copy(this.now);
    change(state);
    this.versions.push(state);
  }
}

function copy(state: ModelState): ModelState {
  return {
    columns: state.columns.map((column) => ({ ...column })),
    rows: new Map([...state.rows].map(([id, cells]) => [id, new Map(cells)])),
  };
}
