import { aggregateFunctions } from '../sql/functions.ts';
import { foldName } from '../sql/identifiers.ts';
import { rowIdColumn } from '../table/table.ts';

type Part = Readonly<Record<string, unknown>>;

/** For each input an expression with the list of its row ids; null where none come from it. */
type Origins = (Part | null)[];

/** Names of CTEs that carry row ids along. */
type Scope = ReadonlySet<string>;

/** Thrown where rows cannot be traced. */
class Untraceable extends Error {}

/**
 * Rewrites a query so that each row of its result has, in further columns, the ids of the rows that it was made from: one list
 * for each of `inputs`, named `prefix` and a number from 1. `tree` is what `json_serialize_sql` makes of the query, and the
 * answer is such a tree. Null: the query makes rows in a way that is not traced.
 */
export function traceRows(tree: string, inputs: readonly string[], prefix: string): string | null {
  const placeless = tree.replace(/(?<!\\)"query_location":\d+/g, '"query_location":0');
  // A number that JSON.parse would round.
  if (/(?<!\\)":-?\d{16}/.test(placeless)) return null;
  const { statements, ...rest } = JSON.parse(placeless) as { statements: Part[] };
  const [statement, ...others] = statements;
  if (!statement || others.length > 0) return null;
  try {
    const traced = new RowTrace(inputs, prefix).traceStatement(statement, new Set());
    return JSON.stringify({ ...rest, statements: [traced] });
  } catch (error) {
    if (error instanceof Untraceable) return null;
    throw error;
  }
}

class RowTrace {
  private unnamed = 0;

  constructor(
    private readonly inputs: readonly string[],
    private readonly prefix: string,
  ) {}

  private get names(): string[] {
    return this.inputs.map((_, i) => `${this.prefix}${i + 1}`);
  }

  traceStatement(statement: Part, scope: Scope): Part {
    return { ...statement, node: this.traceQuery(statement.node as Part, scope) };
  }

  private traceQuery(given: Part, outer: Scope): Part {
    const query = groupDistinct(given);
    refuseMixing(query.modifiers);
    const scope = new Set(outer);
    const entries = partsOf((query.cte_map as Part).map).map((entry) => {
      const cte = entry.value as Part;
      const traced = { ...cte, query: this.traceStatement(cte.query as Part, new Set(scope)) };
      scope.add(foldName(String(entry.key)));
      return { ...entry, value: traced };
    });
    const whole = { ...query, cte_map: { ...(query.cte_map as Part), map: entries } };
    if (query.type === 'SELECT_NODE') return this.traceSelect(whole, scope);
    const isUnion = query.type === 'SET_OPERATION_NODE' && String(query.setop_type).startsWith('UNION') && query.setop_all === true;
    if (!isUnion) throw new Untraceable();
    return { ...whole, left: this.traceQuery(query.left as Part, scope), right: this.traceQuery(query.right as Part, scope) };
  }

  private traceSelect(select: Part, scope: Scope): Part {
    const { select_list, where_clause, having, qualify, group_expressions, sample } = select;
    refuseMixing([select_list, where_clause, having, qualify, group_expressions]);
    if (sample !== null) throw new Untraceable();
    const carriers = new Set<string>();
    const { table, origins } = this.traceTable(select.from_table as Part, scope, carriers);
    const groups = groupsRows(select);
    const added = origins.map((origin, i) => ({
      ...(origin === null ? call('list_value', []) : groups ? call('flatten', [call('list', [origin])]) : origin),
      alias: this.names[i],
    }));
    return { ...select, from_table: table, select_list: [...this.withoutCarried(partsOf(select_list), carriers), ...added] };
  }

  /** A `*` over a part that carries row ids along does not mean these. */
  private withoutCarried(list: Part[], carriers: ReadonlySet<string>): Part[] {
    if (carriers.size === 0) return list;
    return list.map((expression) => {
      const { class: kind, relation_name: of, exclude_list: excluded } = expression;
      if (kind !== 'STAR' || (of !== '' && !carriers.has(foldName(String(of))))) return expression;
      return { ...expression, exclude_list: [...(excluded as string[]), ...this.names] };
    });
  }

  private traceTable(table: Part, scope: Scope, carriers: Set<string>): { table: Part; origins: Origins } {
    const none = this.inputs.map(() => null);
    if (table.sample !== null) throw new Untraceable();
    switch (table.type) {
      case 'EMPTY':
      case 'EXPRESSION_LIST':
      case 'TABLE_FUNCTION':
        refuseMixing([table.values, table.function]);
        return { table, origins: none };
      case 'BASE_TABLE':
        return this.traceBaseTable(table, scope, carriers);
      case 'SUBQUERY': {
        this.unnamed += 1;
        const alias = String(table.alias) || `${this.prefix}q${this.unnamed}`;
        const subquery = this.traceStatement(table.subquery as Part, scope);
        return { table: { ...table, alias, subquery }, origins: this.carry(alias, carriers) };
      }
      case 'JOIN':
        return this.traceJoin(table, scope, carriers);
      default:
        throw new Untraceable();
    }
  }

  private traceBaseTable(table: Part, scope: Scope, carriers: Set<string>): { table: Part; origins: Origins } {
    const name = String(table.table_name);
    const alias = String(table.alias) || name;
    if (partsOf(table.column_name_alias).length > 0) throw new Untraceable();
    if (scope.has(foldName(name))) return { table, origins: this.carry(alias, carriers) };
    const place = this.inputs.findIndex((input) => foldName(input) === foldName(name));
    if (place < 0) throw new Untraceable();
    const own = call('list_value', [column(alias, rowIdColumn)]);
    return { table, origins: this.inputs.map((_, i) => (i === place ? own : null)) };
  }

  private carry(alias: string, carriers: Set<string>): Origins {
    carriers.add(foldName(alias));
    return this.names.map((name) => column(alias, name));
  }

  private traceJoin(join: Part, scope: Scope, carriers: Set<string>): { table: Part; origins: Origins } {
    refuseMixing(join.condition);
    const isPlain = ['INNER', 'LEFT', 'RIGHT', 'FULL'].includes(String(join.join_type));
    if (!isPlain || !['REGULAR', 'CROSS'].includes(String(join.ref_type))) throw new Untraceable();
    const left = this.traceTable(join.left as Part, scope, carriers);
    const right = this.traceTable(join.right as Part, scope, carriers);
    const both = (a: Part | null, b: Part | null) => (a && b ? call('list_concat', [a, b]) : (a ?? b));
    return {
      table: { ...join, left: left.table, right: right.table },
      origins: left.origins.map((origin, i) => both(origin, right.origins[i] ?? null)),
    };
  }
}

/** A row of a SELECT DISTINCT is made from all rows that are alike, as with GROUP BY ALL. */
function groupDistinct(query: Part): Part {
  const modifiers = partsOf(query.modifiers);
  const distinct = modifiers.find(({ type }) => type === 'DISTINCT_MODIFIER');
  if (!distinct) return query;
  const isPlain = query.type === 'SELECT_NODE' && !groupsRows(query) && partsOf(distinct.distinct_on_targets).length === 0;
  if (!isPlain) throw new Untraceable();
  return { ...query, modifiers: modifiers.filter((each) => each !== distinct), aggregate_handling: 'FORCE_AGGREGATES' };
}

const groupsRows = ({ group_expressions, aggregate_handling, select_list, having }: Part): boolean =>
  partsOf(group_expressions).length > 0 || aggregate_handling === 'FORCE_AGGREGATES' || find([select_list, having], isAggregate);

const partsOf = (value: unknown): Part[] => (Array.isArray(value) ? (value as Part[]) : []);

/** Ranks compare a row with others, but the row that is ranked is one. */
const ranks = ['WINDOW_ROW_NUMBER', 'WINDOW_RANK', 'WINDOW_RANK_DENSE', 'WINDOW_PERCENT_RANK', 'WINDOW_CUME_DIST', 'WINDOW_NTILE'];

/** Subqueries within expressions, and windows over values, take something from other rows. */
function refuseMixing(value: unknown): void {
  const mixes = ({ class: kind, type }: Part) => kind === 'SUBQUERY' || (kind === 'WINDOW' && !ranks.includes(String(type)));
  if (find(value, mixes)) throw new Untraceable();
}

const isAggregate = ({ class: kind, function_name: name }: Part) => kind === 'FUNCTION' && aggregateFunctions.has(foldName(String(name)));

/** Whether there is such a part in an expression. */
function find(value: unknown, matches: (part: Part) => boolean): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((each) => find(each, matches));
  return matches(value as Part) || Object.values(value).some((each) => find(each, matches));
}

const expression = { alias: '', query_location: 0 };
const column = (table: string, name: string): Part => ({
  class: 'COLUMN_REF',
  type: 'COLUMN_REF',
  ...expression,
  column_names: [table, name],
});

function call(name: string, children: Part[]): Part {
  return {
    class: 'FUNCTION',
    type: 'FUNCTION',
    ...expression,
    function_name: name,
    schema: '',
    catalog: '',
    children,
    filter: null,
    order_bys: { type: 'ORDER_MODIFIER', orders: [] },
    distinct: false,
    is_operator: false,
    export_state: false,
  };
}
