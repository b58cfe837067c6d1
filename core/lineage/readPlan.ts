import { isNode, listOf, type Node, readExpression, refersTo } from './expressions.ts';
import { type InputColumn, type InputTable, type NumberedInputs, numberInputs } from './inputs.ts';
import { joinParts } from './joins.ts';
import { constant, decide, flatten, mix, nowhere, type Origin, type PartOrigins, type Places, unite } from './relation.ts';
import { readPlace, scanColumn, scanTable } from './scanNames.ts';

/** Where the columns of a query come from, by names of its input tables and their columns. */
export interface QueryLineage {
  /** In order. Every one depends on `rows` as well. */
  columns: ColumnLineage[];
  /** What decides which rows the result has and their order. */
  rows: InputColumn[];
}

export interface ColumnLineage {
  name: string;
  computedFrom: InputColumn[];
  /** What picked the values that it is computed from, if that is not the same for the whole row. */
  decidedBy: InputColumn[];
}

/**
 * The lineage of a query from its plan, as DuckDB's `json_serialize_plan` with `optimize := false` gives it, over tables named by
 * scanNames.ts. Whatever is unknown in the plan depends on every column: the lineage may be wider than the truth, never narrower.
 * `columns` are the names of the result.
 */
export function readPlan(plan: unknown, columns: string[], tables: InputTable[]): QueryLineage {
  const inputs = numberInputs(tables);
  const walk = new PlanWalk(inputs);
  const read = walk.visit(plan);
  const whole = read.columns?.length === columns.length ? read : walk.everything;
  const described = describeOnce(inputs);
  return {
    columns: columns.map((name, i) => {
      const { computedFrom, decidedBy } = whole.columns?.[i] ?? walk.all;
      return { name, computedFrom: described(computedFrom), decidedBy: described(decidedBy) };
    }),
    rows: described(whole.rows),
  };
}

/** The lineage of something that reads everything. */
export function everyColumn(columns: string[], tables: InputTable[]): QueryLineage {
  return readPlan(null, columns, tables);
}

/** Columns that depend on the same share the list. */
function describeOnce(inputs: NumberedInputs): (places: Places) => InputColumn[] {
  const known = new Map<Places, InputColumn[]>();
  return (places) => {
    const lists = known.get(places) ?? inputs.describe(places);
    known.set(places, lists);
    return lists;
  };
}

/** Walks the plan bottom up. */
class PlanWalk {
  /** A column, and a part of the query, that depends on everything. */
  readonly all: Origin;
  readonly everything: PartOrigins;
  private readonly ctes = new Map<number, PartOrigins>();
  /** Columns of operators that expressions may name by number. */
  private readonly operators = new Map<number, Origin[]>();
  /** What the subqueries around the current one take from outside, innermost last. */
  private readonly outer: { columns: Origin[]; rows: Places }[] = [];

  constructor(private readonly inputs: NumberedInputs) {
    this.all = { computedFrom: inputs.all, decidedBy: nowhere };
    this.everything = { columns: null, rows: inputs.all };
  }

  visit(value: unknown): PartOrigins {
    if (!isNode(value)) return this.everything;
    const part = project(this.visitOperator(value), value.projection_map);
    if (part.columns && typeof value.table_index === 'number') this.operators.set(value.table_index, part.columns);
    return part;
  }

  private visitOperator(node: Node): PartOrigins {
    const children = listOf(node.children);
    switch (node.type) {
      case 'LOGICAL_GET':
        return this.readScan(node, children);
      case 'LOGICAL_DUMMY_SCAN':
        return { columns: [constant], rows: nowhere };
      case 'LOGICAL_EXPRESSION_GET':
        return this.readValues(node, this.visit(children[0]));
      case 'LOGICAL_DELIM_GET':
        return this.readOuter(node);
      case 'LOGICAL_CTE_REF':
        return this.ctes.get(Number(node.cte_index)) ?? this.everything;
      case 'LOGICAL_MATERIALIZED_CTE':
        this.ctes.set(Number(node.table_index), this.visit(children[0]));
        return this.visit(children[1]);
      case 'LOGICAL_RECURSIVE_CTE':
        return this.readRecursion(node, children);
      case 'LOGICAL_CROSS_PRODUCT':
      case 'LOGICAL_POSITIONAL_JOIN':
      case 'LOGICAL_COMPARISON_JOIN':
      case 'LOGICAL_ANY_JOIN':
      case 'LOGICAL_ASOF_JOIN':
      case 'LOGICAL_DELIM_JOIN':
        return this.readJoin(node, children);
      case 'LOGICAL_UNION':
        return children.length === 2 ? this.uniteParts(this.visit(children[0]), this.visit(children[1])) : this.everything;
      case 'LOGICAL_EXCEPT':
      case 'LOGICAL_INTERSECT':
        return this.compareParts(this.visit(children[0]), this.visit(children[1]));
      default:
        return children.length === 1 ? this.readUnary(node, this.visit(children[0])) : this.everything;
    }
  }

  /** Operators over one part. */
  private readUnary(node: Node, child: PartOrigins): PartOrigins {
    const reads = (value: unknown) => readExpression(value, refersTo(child, this.all, this.operators), this.all);
    const decideRows = (...values: unknown[]) => ({ ...child, rows: unite(child.rows, ...values.map((value) => flatten(reads(value)))) });
    const append = (added: Origin[], rows: Places) => ({ columns: child.columns && [...child.columns, ...added], rows });
    const expressions = listOf(node.expressions);
    switch (node.type) {
      case 'LOGICAL_PROJECTION':
        return { columns: expressions.map(reads), rows: child.rows };
      case 'LOGICAL_FILTER':
        return decideRows(expressions);
      case 'LOGICAL_ORDER_BY':
        return decideRows(node.orders);
      case 'LOGICAL_LIMIT':
        return decideRows(node.limit_val, node.offset_val);
      case 'LOGICAL_SAMPLE':
        return child;
      case 'LOGICAL_DISTINCT':
        return decideRows(node.distinct_targets, node.order_by);
      case 'LOGICAL_AGGREGATE_AND_GROUP_BY':
        return this.readGroups(node, child.rows, reads);
      case 'LOGICAL_WINDOW':
        return append(
          expressions.map((expression) => readCall(expression, reads)),
          child.rows,
        );
      case 'LOGICAL_UNNEST': {
        const lists = expressions.map(reads);
        return append(lists, unite(child.rows, ...lists.map(flatten)));
      }
      default:
        return this.everything;
    }
  }

  private readScan(node: Node, children: unknown[]): PartOrigins {
    const read = listOf(node.column_indexes).map((column) => (isNode(column) ? Number(column.index) : Number.NaN));
    const names = listOf(node.names).map(String);
    const { table: name } = isNode(node.function_data) ? node.function_data : {};
    if (typeof name === 'string') {
      const table = readPlace(scanTable, name);
      const rows = this.inputs.rowsOf(table);
      if (rows === null) return this.everything;
      return { columns: read.map((index) => this.readColumn(table, names[index])), rows: new Set([rows]) };
    }
    if (children.length === 0 && generators.has(String(node.name))) return { columns: read.map(() => constant), rows: nowhere };
    if (children.length !== 1 || !generators.has(String(node.name))) return this.everything;
    // A function over the rows of its child: any column of the child may be an argument; some are passed through.
    const child = this.visit(children[0]);
    const made = mix(child.columns ?? [this.all]);
    const passed = listOf(node.projected_input).map((index) => child.columns?.[Number(index)] ?? this.all);
    return { columns: [...read.map(() => made), ...passed], rows: unite(child.rows, flatten(made)) };
  }

  /** A column without a name is one that every table has, such as the number of the row. */
  private readColumn(table: number, name: string | undefined): Origin {
    if (name === undefined) return constant;
    const place = this.inputs.columnAt(table, readPlace(scanColumn, name));
    return place === null ? this.all : { computedFrom: new Set([place]), decidedBy: nowhere };
  }

  private readValues(node: Node, child: PartOrigins): PartOrigins {
    const rows = listOf(node.expressions).map(listOf);
    const reads = (value: unknown) => readExpression(value, refersTo(child, this.all, this.operators), this.all);
    return { columns: (rows[0] ?? []).map((_, i) => mix(rows.map((row) => reads(row[i])))), rows: child.rows };
  }

  /** The distinct values that the subquery around it takes from outside. */
  private readOuter(node: Node): PartOrigins {
    const taken = this.outer.at(-1);
    return taken && listOf(node.chunk_types).length === taken.columns.length ? taken : this.everything;
  }

  private readJoin(node: Node, children: unknown[]): PartOrigins {
    if (children.length !== 2 || node.delim_flipped === true) return this.everything;
    const left = this.visit(children[0]);
    if (node.type === 'LOGICAL_DELIM_JOIN') {
      const columns = listOf(node.duplicate_eliminated_columns).map((column) =>
        readExpression(column, refersTo(left, this.all, this.operators), this.all),
      );
      this.outer.push({ columns, rows: unite(left.rows, ...columns.map(flatten)) });
    }
    const right = this.visit(children[1]);
    if (node.type === 'LOGICAL_DELIM_JOIN') this.outer.pop();
    const condition = this.readConditions(node, left, right);
    return joinParts(String(node.join_type ?? 'INNER'), left, right, condition) ?? this.everything;
  }

  /** Conditions name their sides apart, or both in one expression over the columns of the two. */
  private readConditions(node: Node, left: PartOrigins, right: PartOrigins): Origin {
    const reads = (value: unknown, part: PartOrigins) => readExpression(value, refersTo(part, this.all, this.operators), this.all);
    const both = { columns: left.columns && right.columns && [...left.columns, ...right.columns], rows: nowhere };
    const conditions = listOf(node.conditions).map((condition) => {
      const { left: ofLeft, right: ofRight, comparison } = isNode(condition) ? condition : {};
      if (!isNode(ofLeft) || !isNode(ofRight) || comparison === undefined) return this.all;
      return mix([reads(ofLeft, left), reads(ofRight, right)]);
    });
    return mix([...conditions, reads(node.condition, both), reads(node.predicate, both)]);
  }

  /** Groups, aggregates and numbers of grouping sets. Without groups there is one row, whatever the rows below are. */
  private readGroups(node: Node, rows: Places, reads: (value: unknown) => Origin): PartOrigins {
    const groups = listOf(node.groups).map(reads);
    const isOne = groups.length === 0 && listOf(node.grouping_sets).length === 0;
    const grouping = unite(...groups.map(flatten));
    const aggregates = listOf(node.expressions).map((expression) => decide(readCall(expression, reads), unite(grouping, rows)));
    const numbers = listOf(node.grouping_functions).map(() => constant);
    return { columns: [...groups, ...aggregates, ...numbers], rows: isOne ? nowhere : unite(rows, grouping) };
  }

  /** Repeats until nothing is added: what a round reads is what the rounds before it gave. */
  private readRecursion(node: Node, children: unknown[]): PartOrigins {
    let part = this.visit(children[0]);
    for (;;) {
      this.ctes.set(Number(node.table_index), part);
      const round = this.uniteParts(part, this.visit(children[1]));
      const next = node.union_all === true ? round : this.compareParts(round, round);
      if (sizeOf(next) === sizeOf(part)) return next;
      part = next;
    }
  }

  private uniteParts(left: PartOrigins, right: PartOrigins): PartOrigins {
    if (left.columns?.length !== right.columns?.length || !left.columns) return this.everything;
    const columns = left.columns.map((origin, i) => mix([origin, right.columns?.[i] ?? this.all]));
    return { columns, rows: unite(left.rows, right.rows) };
  }

  /** Whole rows of both sides are compared, and rows of the left remain. */
  private compareParts(left: PartOrigins, right: PartOrigins): PartOrigins {
    if (!left.columns || !right.columns) return this.everything;
    return { columns: left.columns, rows: unite(left.rows, right.rows, ...[...left.columns, ...right.columns].map(flatten)) };
  }
}

/** Table functions whose rows depend on their arguments alone. */
const generators = new Set(['range', 'generate_series', 'unnest']);

/** An aggregate or window function is computed from its arguments; filters, orders, partitions and frames decide. */
function readCall(call: unknown, reads: (value: unknown) => Origin): Origin {
  if (!isNode(call)) return reads(call);
  const { children, default_expr: fallback, ...rest } = call;
  return decide(reads([children, fallback]), flatten(reads(rest)));
}

function project(part: PartOrigins, map: unknown): PartOrigins {
  if (!Array.isArray(map) || !part.columns) return part;
  const { columns } = part;
  const places = map.map(Number);
  // An operator that is not known to leave out columns by such a map must not be read as if it did.
  if (places.some((place) => columns[place] === undefined)) return { columns: null, rows: part.rows };
  return { ...part, columns: places.map((place) => columns[place] as Origin) };
}

const sizeOf = ({ columns, rows }: PartOrigins): number =>
  columns === null
    ? Number.POSITIVE_INFINITY
    : columns.reduce((sum, { computedFrom, decidedBy }) => sum + computedFrom.size + decidedBy.size, rows.size);
