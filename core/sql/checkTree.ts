import { describeFunction, describeUnknownPart, describeUnknownTable } from './describeRefused.ts';
import { allowedFunctions, allowedTableFunctions, clockFunctions, randomFunctions, sessionWords } from './functions.ts';
import { type FieldKind, operatorTypes, type PartName, shapeOf } from './grammar.ts';
import { foldName, showName } from './identifiers.ts';

/** A table that SQL may name. With its columns known, words such as `user` can be told apart from columns. */
export interface KnownTable {
  name: string;
  columns?: readonly string[];
}

interface Refusal {
  message: string;
  /** Byte offset into the SQL, where the tree tells it. */
  offset: number | null;
}

export interface TreeCheck {
  refusals: Refusal[];
  /** Known tables that the query reads, by their own spelling, in the order of first use. */
  tables: string[];
  /** Every name that stands where a column can, whether or not it turns out to be one. */
  columns: string[];
  /** The query may mean columns that it does not name: `*`, a whole row, `t(a, b)`, NATURAL JOIN, PIVOT. */
  allColumns: boolean;
  /** `1`, `2` … or names. */
  parameters: string[];
  /** What the answer depends on beside the tables. */
  volatility: Volatility;
}

export type Volatility = 'none' | 'clock' | 'random';

type Part = Readonly<Record<string, unknown>>;

/** CTEs that a part of the query can see. */
interface Scope {
  names: ReadonlySet<string>;
}

const maxDepth = 1000;
const maxRefusals = 20;

/** Checks that the tree is one SELECT over known tables that calls only allowed functions. Sandboxing comes on top of this. */
export function checkTree(statements: readonly unknown[], known: readonly KnownTable[]): TreeCheck {
  const walk = new TreeWalk(known);
  if (statements.length === 0) walk.refuse('There is no SQL statement. Write one SELECT.', null);
  else if (statements.length > 1) walk.refuse(`Only one statement is allowed, and there are ${statements.length}.`, null);
  else walk.visit('statement', statements[0], { names: new Set() }, 0);
  walk.checkSessionWords();
  return {
    refusals: walk.refusals,
    tables: [...walk.tables],
    columns: [...walk.columns.keys()],
    allColumns: walk.meansAllColumns(),
    parameters: [...walk.parameters],
    volatility: walk.volatility,
  };
}

class TreeWalk {
  readonly refusals: Refusal[] = [];
  readonly tables = new Set<string>();
  /** Column names with the place of the first use on its own, without a table before it. */
  readonly columns = new Map<string, number | null>();
  readonly parameters = new Set<string>();
  volatility: Volatility = 'none';
  private star = false;
  /** Names that the query itself gives, to columns or tables. */
  private readonly named = new Set<string>();
  private readonly tableNames = new Set<string>();
  private readonly lastParts = new Set<string>();
  private readonly known: ReadonlyMap<string, KnownTable>;

  constructor(known: readonly KnownTable[]) {
    this.known = new Map(known.map((table) => [foldName(table.name), table]));
  }

  refuse(message: string, offset: unknown): void {
    const place = typeof offset === 'number' && Number.isSafeInteger(offset) ? offset : null;
    if (this.refusals.length < maxRefusals) this.refusals.push({ message, offset: place });
  }

  visit(name: PartName, value: unknown, scope: Scope, depth: number): void {
    if (value === null) return;
    if (depth > maxDepth) {
      if (depth === maxDepth + 1) this.refuse('The query is nested too deeply.', null);
      return;
    }
    const part = value as Part;
    const shape = typeof value === 'object' ? shapeOf(name, part) : undefined;
    if (!shape) {
      this.refuseUnknown(name, part);
      return;
    }
    const inner = this.enter(name, part, scope, depth);
    if (!inner) return;
    for (const [field, content] of Object.entries(part)) {
      // The CTEs were visited on entering.
      if (name === 'query' && field === 'cte_map') continue;
      const kind = Object.hasOwn(shape, field) ? shape[field] : undefined;
      const within = name === 'query' && field === 'right' ? rightScope(part, inner) : inner;
      if (kind) this.visitField(kind, field, content, within, depth, part);
      else
        this.refuse(`This kind of SQL is not supported here (${String(part.class ?? part.type ?? name)}: ${field}).`, part.query_location);
    }
  }

  /** Checks that are special to some parts. Returns the scope of what is inside, or null when the part was refused. */
  private enter(name: PartName, part: Part, scope: Scope, depth: number): Scope | null {
    if (name === 'query') return this.enterQuery(part, scope, depth);
    if (name === 'table') return this.enterTable(part, scope) ? scope : null;
    if (name === 'expression') return this.enterExpression(part) ? scope : null;
    if (name === 'sample') this.volatility = 'random';
    return scope;
  }

  /** A CTE sees those before it; only a recursive one sees itself, and only in its second half. */
  private enterQuery(part: Part, scope: Scope, depth: number): Scope {
    const entries = (part.cte_map as { map?: unknown[] } | null)?.map;
    if (!Array.isArray(entries) || entries.length === 0) return scope;
    const names = new Set(scope.names);
    for (const entry of entries) {
      this.visit('cteEntry', entry, { names: new Set(names) }, depth + 1);
      const key = (entry as Part | null)?.key;
      if (typeof key === 'string') names.add(foldName(key));
    }
    return { names };
  }

  private enterTable(part: Part, scope: Scope): boolean {
    for (const name of [part.alias, part.table_name]) if (typeof name === 'string' && name !== '') this.tableNames.add(foldName(name));
    // `t(a, b)` renames columns by position, so it may mean any column.
    const renamed = part.type === 'BASE_TABLE' && Array.isArray(part.column_name_alias) && part.column_name_alias.length > 0;
    if (renamed || part.type === 'PIVOT' || part.ref_type === 'NATURAL') this.star = true;
    for (const name of Array.isArray(part.using_columns) ? part.using_columns : []) this.columns.set(String(name), null);
    if (part.type === 'BASE_TABLE') return this.enterBaseTable(part, scope);
    if (part.type !== 'TABLE_FUNCTION') return true;
    const called = part.function as Part | null;
    const name = called?.class === 'FUNCTION' ? foldName(String(called.function_name)) : null;
    if (name !== null && allowedTableFunctions.has(name)) return true;
    this.refuse(
      `The table function ${showName(name ?? '?')} is not allowed; only ${[...allowedTableFunctions].join(', ')} are.`,
      part.query_location,
    );
    return false;
  }

  private enterBaseTable(part: Part, scope: Scope): boolean {
    const name = String(part.table_name);
    if (part.schema_name !== '' || part.catalog_name !== '') {
      const whole = [part.catalog_name, part.schema_name, name].filter((each) => each !== '').join('.');
      this.refuse(
        `${showName(whole)}: tables are named without schema or catalog; a name that holds a dot is written in double quotes.`,
        part.query_location,
      );
      return false;
    }
    if (part.at_clause !== null) {
      this.refuse('AT (…) is not allowed in SQL; the request says at which version to read.', part.query_location);
      return false;
    }
    if (scope.names.has(foldName(name))) return true;
    const table = this.known.get(foldName(name));
    if (table) this.tables.add(table.name);
    else
      this.refuse(
        describeUnknownTable(
          name,
          [...this.known.values()].map((table) => table.name),
        ),
        part.query_location,
      );
    return table !== undefined;
  }

  private enterExpression(part: Part): boolean {
    switch (part.class) {
      case 'FUNCTION':
      case 'WINDOW':
        this.checkFunction(part);
        this.noteMethod(part);
        return true;
      case 'OPERATOR':
        if (operatorTypes.has(String(part.type))) return true;
        this.refuseUnknown('expression', part);
        return false;
      case 'COLUMN_REF':
        this.noteColumn(part);
        return true;
      case 'STAR':
      // `#2` is a column by its position.
      case 'POSITIONAL_REFERENCE':
        this.star = true;
        return true;
      case 'PARAMETER':
        this.parameters.add(String(part.identifier));
        return true;
      default:
        return true;
    }
  }

  /** Ignores the schema: no allowed name means something else in another schema, and `name.upper()` parses as schema `name`. */
  private checkFunction(part: Part): void {
    const name = foldName(String(part.function_name));
    this.noteVolatile(name);
    if (!allowedFunctions.has(name)) this.refuse(describeFunction(name), part.query_location);
  }

  private noteVolatile(word: string): void {
    if (randomFunctions.has(word)) this.volatility = 'random';
    else if (clockFunctions.has(word) && this.volatility === 'none') this.volatility = 'clock';
  }

  /** `name.upper()` is parsed as function `upper` of schema `name`, but `name` is a column. */
  private noteMethod(part: Part): void {
    const names = [part.catalog, part.schema].filter((name) => typeof name === 'string' && name !== '');
    if (names.length > 0) this.noteColumn({ column_names: names });
  }

  private noteColumn(part: Part): void {
    const names = Array.isArray(part.column_names) ? part.column_names.map(String) : [];
    this.lastParts.add(foldName(names.at(-1) ?? ''));
    // `current_date` is written like a column.
    if (names.length === 1) this.noteVolatile(foldName(names[0] ?? ''));
    // `a.b` may be column b of table a, or field b of column a; so every part is noted.
    for (const name of names) {
      const offset = names.length === 1 && typeof part.query_location === 'number' ? part.query_location : null;
      if (!this.columns.has(name) || this.columns.get(name) === null) this.columns.set(name, offset);
    }
  }

  /** `SELECT t FROM t` gives a whole row. */
  meansAllColumns(): boolean {
    return this.star || [...this.lastParts].some((name) => this.tableNames.has(name));
  }

  /** `user` is a column when one has that name, else DuckDB calls a function. */
  checkSessionWords(): void {
    const read = [...this.tables].map((name) => this.known.get(foldName(name))?.columns);
    if (read.some((columns) => columns === undefined)) return;
    const columns = new Set([...read.flatMap((names) => names ?? []).map(foldName), ...this.named]);
    for (const [name, offset] of this.columns) {
      const word = foldName(name);
      if (offset !== null && sessionWords.has(word) && !columns.has(word))
        this.refuse(`${showName(name)} is not allowed. It shows settings or the session.`, offset);
    }
  }

  private visitField(kind: FieldKind, field: string, content: unknown, scope: Scope, depth: number, part: Part): void {
    if (kind === 'value') return;
    if (kind === 'empty') {
      const empty = content === null || content === '' || content === false || (Array.isArray(content) && content.length === 0);
      if (!empty)
        this.refuse(
          field === 'pivot_enum' ? 'PIVOT … IN needs a list of values.' : `This kind of SQL is not supported here (${field}).`,
          part.query_location,
        );
    } else if (kind === 'data') {
      this.visitData(field, content, part);
    } else {
      const name = kind.replace(/(\[\])+$/, '') as PartName;
      const items = kind === name ? [content] : Array.isArray(content) ? content.flat() : [undefined];
      for (const item of items) this.visit(name, item, scope, depth + 1);
    }
  }

  /** Plain data only: an object where data is expected could be a part of the query that was not checked, so it is refused. */
  private visitData(field: string, content: unknown, part: Part): void {
    const items = Array.isArray(content) ? content : [content];
    if (items.some((item) => typeof item === 'object' && item !== null)) this.refuseUnknown(field, part);
    if (/alias|names|^value$/.test(field) && field !== 'column_names') {
      for (const item of items) if (typeof item === 'string' && item !== '') this.named.add(foldName(item));
    }
  }

  private refuseUnknown(name: string, part: Part | undefined): void {
    this.refuse(describeUnknownPart(name, part), part?.query_location);
  }
}

function rightScope(part: Part, scope: Scope): Scope {
  if (part.type !== 'RECURSIVE_CTE_NODE' || typeof part.cte_name !== 'string') return scope;
  return { names: new Set([...scope.names, foldName(part.cte_name)]) };
}
