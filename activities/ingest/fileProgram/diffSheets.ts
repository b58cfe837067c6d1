import { nameCell } from '../../../core/a1/address.ts';
import { type OpenSheets, openSheets, type Shown, type ShownCell } from './readCells.ts';
import type { FileInput } from './requests.ts';

export interface SheetDiff {
  sheet: string;
  status: 'changed' | 'added' | 'removed';
  changes: { cell: string; old: Shown | null; new: Shown | null }[];
  truncated: boolean;
}

/** Nothing more is listed once the texts get this long. */
const mostCharacters = 16 * 1024 * 1024;

/** Cells that differ, sheet by sheet, at most `limit` of each. Null: everything is new. */
export async function diffSheets(left: FileInput | null, right: FileInput, limit: number): Promise<SheetDiff[]> {
  const before = left && (await openSheets(left));
  try {
    const after = await openSheets(right);
    try {
      return await compareFiles(before, after, limit);
    } finally {
      await after.close();
    }
  } finally {
    await before?.close();
  }
}

async function compareFiles(before: OpenSheets | null, after: OpenSheets, limit: number): Promise<SheetDiff[]> {
  const had = new Set(before?.sheets);
  const has = new Set(after.sheets);
  const found: SheetDiff[] = [];
  let characters = 0;
  for (const sheet of new Set([...after.sheets, ...had])) {
    const status = !had.has(sheet) ? 'added' : !has.has(sheet) ? 'removed' : 'changed';
    const diff: SheetDiff = { sheet, status, changes: [], truncated: false };
    const sides = [had.has(sheet) ? before?.read(sheet) : undefined, has.has(sheet) ? after.read(sheet) : undefined] as const;
    for await (const [old, now] of pairCells(...sides)) {
      if (old?.value === now?.value) continue;
      if (diff.changes.length >= limit || characters > mostCharacters) {
        diff.truncated = true;
        break;
      }
      const { row, column } = (now ?? old) as ShownCell;
      diff.changes.push({ cell: nameCell(row, column), old: old?.value ?? null, new: now?.value ?? null });
      characters += String(old?.value).length + String(now?.value).length;
    }
    if (status !== 'changed' || diff.changes.length > 0 || diff.truncated) found.push(diff);
  }
  return found;
}

type Cells = AsyncGenerator<ShownCell, void, undefined>;

/** The cells of two sheets in row order, those at the same place together. */
async function* pairCells(left: Cells = noCells(), right: Cells = noCells()): AsyncGenerator<[ShownCell | null, ShownCell | null]> {
  try {
    let [old, now] = [await take(left), await take(right)];
    while (old || now) {
      const order = compare(old, now);
      yield [order <= 0 ? old : null, order >= 0 ? now : null];
      if (order <= 0) old = await take(left);
      if (order >= 0) now = await take(right);
    }
  } finally {
    await left.return();
    await right.return();
  }
}

async function* noCells(): Cells {}

async function take(cells: Cells): Promise<ShownCell | null> {
  return (await cells.next()).value ?? null;
}

function compare(left: ShownCell | null, right: ShownCell | null): number {
  if (!left || !right) return left ? -1 : 1;
  return left.row - right.row || left.column - right.column;
}
