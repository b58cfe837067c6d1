/** Counts where every cell of a sheet went; a cell that is nowhere or in two places is an error. */

import { nameCell } from '../../a1/address.ts';
import type { SheetView } from '../sheet/sheet.ts';
import type { Conservation } from './output.ts';

type CellRole = 'header' | 'value' | 'label' | 'title' | 'note';

const NUMBERS: Record<CellRole, number> = { header: 1, value: 2, label: 3, title: 4, note: 5 };

const OMITTED = 6;

/** How many addresses of wrong cells are listed; more would add nothing. */
const MAX_LISTED = 50;

export class Ledger {
  private readonly roles: Uint8Array;
  private readonly doubled = new Set<number>();
  /** For shared cells the region that holds them, by its number; 0 for none. */
  private readonly owners: Int32Array;
  private readonly ownerIds = new Map<string, number>();
  /** The owner of the cell before, which is most often that of the next one too. */
  private last = { owner: '', id: 0 };

  constructor(private readonly view: SheetView) {
    this.roles = new Uint8Array(view.grid.size);
    this.owners = new Int32Array(view.grid.size);
  }

  place(cell: number, role: CellRole): void {
    if (cell >= 0) this.placeAs(cell, NUMBERS[role]);
  }

  /** A cell of a region that was not chosen; it counts nowhere, and is not lost. */
  omit(cell: number): void {
    if (this.roles[cell] === 0) this.roles[cell] = OMITTED;
  }

  /** A label or identity that a table repeats on several rows is still in one place: its region. */
  share(cell: number, role: CellRole, owner: string): void {
    if (cell >= 0) this.shareAs(cell, NUMBERS[role], this.ownerId(owner));
  }

  shareAll(cells: Int32Array, role: CellRole, owner: string): void {
    const [number, id] = [NUMBERS[role], this.ownerId(owner)];
    for (let n = 0; n < cells.length; n += 1) if (cells[n]! >= 0) this.shareAs(cells[n]!, number, id);
  }

  private placeAs(cell: number, role: number): void {
    if (this.roles[cell] !== 0) this.doubled.add(cell);
    else this.roles[cell] = role;
  }

  private shareAs(cell: number, role: number, owner: number): void {
    if (this.owners[cell] === owner) return;
    if (this.owners[cell] === 0) this.owners[cell] = owner;
    this.placeAs(cell, role);
  }

  private ownerId(owner: string): number {
    if (this.last.owner === owner && this.last.id > 0) return this.last.id;
    let id = this.ownerIds.get(owner);
    if (id === undefined) {
      id = this.ownerIds.size + 1;
      this.ownerIds.set(owner, id);
    }
    this.last = { owner, id };
    return id;
  }

  summarize(): Conservation {
    const counts = [0, 0, 0, 0, 0, 0, 0];
    const lost: string[] = [];
    for (let i = 0; i < this.roles.length; i += 1) {
      counts[this.roles[i]!] = counts[this.roles[i]!]! + 1;
      if (this.roles[i] === 0 && lost.length < MAX_LISTED) lost.push(this.address(i));
    }
    return {
      sheet: this.view.grid.sheet,
      cells: this.roles.length,
      headers: counts[1]!,
      values: counts[2]!,
      labels: counts[3]!,
      titles: counts[4]!,
      notes: counts[5]!,
      omitted: counts[OMITTED]!,
      lost,
      twice: [...this.doubled]
        .sort((a, b) => a - b)
        .slice(0, MAX_LISTED)
        .map((i) => this.address(i)),
    };
  }

  private address(i: number): string {
    return nameCell(this.view.grid.rows[i]!, this.view.grid.columns[i]!);
  }
}
