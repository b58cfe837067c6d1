/**
 * The parts of DuckDB's syntax tree (`json_serialize_sql`) that are understood, as data. A node, a field or a kind of
 * operator that is not in here is refused: what nobody has looked at does not run.
 *
 * A field holds `data` (text, numbers, flags, or lists of them), a `value` (a constant), nothing (`empty`), or a part named
 * by its shape; `[]` is a list of those.
 */
export type FieldKind = 'data' | 'value' | 'empty' | PartName | `${PartName}[]` | `${PartName}[][]`;

/** `expression`, `table`, `query`, `modifier` and `typeInfo` name their shape in a field of their own (`class` or `type`). */
export type PartName = 'expression' | 'table' | 'query' | 'modifier' | 'typeInfo' | RecordName;

type RecordName =
  | 'statement'
  | 'ctes'
  | 'cteEntry'
  | 'cte'
  | 'order'
  | 'caseCheck'
  | 'sample'
  | 'replacement'
  | 'renaming'
  | 'qualifiedName'
  | 'pivot'
  | 'pivotEntry'
  | 'type'
  | 'typeField';

type Shape = Readonly<Record<string, FieldKind>>;

const records: Readonly<Record<RecordName, Shape>> = {
  statement: { node: 'query', named_param_map: 'value' },
  ctes: { map: 'cteEntry[]' },
  cteEntry: { key: 'data', value: 'cte' },
  cte: { aliases: 'data', query: 'statement', materialized: 'data', key_targets: 'expression[]' },
  order: { type: 'data', null_order: 'data', expression: 'expression' },
  caseCheck: { when_expr: 'expression', then_expr: 'expression' },
  sample: { sample_size: 'value', is_percentage: 'data', method: 'data', seed: 'data' },
  replacement: { key: 'data', value: 'expression' },
  renaming: { key: 'qualifiedName', value: 'data' },
  qualifiedName: { catalog: 'empty', schema: 'empty', table: 'data', column: 'data' },
  // `pivot_enum` would name a type of the catalog.
  pivot: { pivot_expressions: 'expression[]', unpivot_names: 'data', entries: 'pivotEntry[]', pivot_enum: 'empty' },
  pivotEntry: { values: 'value', star_expr: 'expression', alias: 'data' },
  type: { id: 'data', type_info: 'typeInfo' },
  typeField: { first: 'data', second: 'type' },
};

const queryBase = { type: 'data', modifiers: 'modifier[]', cte_map: 'ctes' } as const;

const queries: Readonly<Record<string, Shape>> = {
  SELECT_NODE: {
    ...queryBase,
    select_list: 'expression[]',
    from_table: 'table',
    where_clause: 'expression',
    group_expressions: 'expression[]',
    group_sets: 'value',
    aggregate_handling: 'data',
    having: 'expression',
    sample: 'sample',
    qualify: 'expression',
  },
  SET_OPERATION_NODE: { ...queryBase, setop_type: 'data', setop_all: 'data', left: 'query', right: 'query' },
  RECURSIVE_CTE_NODE: {
    ...queryBase,
    cte_name: 'data',
    union_all: 'data',
    left: 'query',
    right: 'query',
    aliases: 'data',
    key_targets: 'expression[]',
  },
};

const tableBase = { type: 'data', alias: 'data', sample: 'sample', query_location: 'data' } as const;

const tables: Readonly<Record<string, Shape>> = {
  EMPTY: tableBase,
  BASE_TABLE: {
    ...tableBase,
    schema_name: 'data',
    table_name: 'data',
    catalog_name: 'data',
    column_name_alias: 'data',
    at_clause: 'empty',
  },
  JOIN: {
    ...tableBase,
    left: 'table',
    right: 'table',
    condition: 'expression',
    join_type: 'data',
    ref_type: 'data',
    using_columns: 'data',
    delim_flipped: 'data',
    duplicate_eliminated_columns: 'expression[]',
  },
  SUBQUERY: { ...tableBase, subquery: 'statement', column_name_alias: 'data' },
  TABLE_FUNCTION: { ...tableBase, function: 'expression', column_name_alias: 'data', with_ordinality: 'data' },
  EXPRESSION_LIST: { ...tableBase, expected_names: 'data', expected_types: 'type[]', values: 'expression[][]' },
  PIVOT: {
    ...tableBase,
    source: 'table',
    aggregates: 'expression[]',
    unpivot_names: 'data',
    pivots: 'pivot[]',
    groups: 'data',
    column_name_alias: 'data',
    include_nulls: 'data',
  },
};

const modifiers: Readonly<Record<string, Shape>> = {
  ORDER_MODIFIER: { type: 'data', orders: 'order[]' },
  LIMIT_MODIFIER: { type: 'data', limit: 'expression', offset: 'expression' },
  LIMIT_PERCENT_MODIFIER: { type: 'data', limit: 'expression', offset: 'expression' },
  DISTINCT_MODIFIER: { type: 'data', distinct_on_targets: 'expression[]' },
};

const expressionBase = { class: 'data', type: 'data', alias: 'data', query_location: 'data' } as const;

const expressions: Readonly<Record<string, Shape>> = {
  BETWEEN: { ...expressionBase, input: 'expression', lower: 'expression', upper: 'expression' },
  CASE: { ...expressionBase, case_checks: 'caseCheck[]', else_expr: 'expression' },
  CAST: { ...expressionBase, child: 'expression', cast_type: 'type', try_cast: 'data' },
  COLLATE: { ...expressionBase, child: 'expression', collation: 'data' },
  COLUMN_REF: { ...expressionBase, column_names: 'data' },
  COMPARISON: { ...expressionBase, left: 'expression', right: 'expression' },
  CONJUNCTION: { ...expressionBase, children: 'expression[]' },
  CONSTANT: { ...expressionBase, value: 'value' },
  FUNCTION: {
    ...expressionBase,
    function_name: 'data',
    schema: 'data',
    catalog: 'data',
    children: 'expression[]',
    filter: 'expression',
    order_bys: 'modifier',
    distinct: 'data',
    is_operator: 'data',
    export_state: 'empty',
  },
  LAMBDA: { ...expressionBase, syntax_type: 'data', lhs: 'expression', expr: 'expression' },
  OPERATOR: { ...expressionBase, children: 'expression[]' },
  PARAMETER: { ...expressionBase, identifier: 'data' },
  POSITIONAL_REFERENCE: { ...expressionBase, index: 'data' },
  STAR: {
    ...expressionBase,
    relation_name: 'data',
    exclude_list: 'data',
    replace_list: 'replacement[]',
    columns: 'data',
    expr: 'expression',
    qualified_exclude_list: 'qualifiedName[]',
    rename_list: 'renaming[]',
  },
  SUBQUERY: { ...expressionBase, subquery_type: 'data', subquery: 'statement', child: 'expression', comparison_type: 'data' },
  WINDOW: {
    ...expressionBase,
    function_name: 'data',
    schema: 'data',
    catalog: 'data',
    children: 'expression[]',
    partitions: 'expression[]',
    orders: 'order[]',
    start: 'data',
    end: 'data',
    start_expr: 'expression',
    end_expr: 'expression',
    offset_expr: 'expression',
    default_expr: 'expression',
    ignore_nulls: 'data',
    filter_expr: 'expression',
    exclude_clause: 'data',
    distinct: 'data',
    arg_orders: 'order[]',
  },
};

export const operatorTypes: ReadonlySet<string> = new Set([
  'OPERATOR_NOT',
  'OPERATOR_IS_NULL',
  'OPERATOR_IS_NOT_NULL',
  'OPERATOR_COALESCE',
  'OPERATOR_TRY',
  'OPERATOR_UNPACK',
  'COMPARE_IN',
  'COMPARE_NOT_IN',
  'STRUCT_EXTRACT',
  'ARRAY_EXTRACT',
  'ARRAY_SLICE',
  'ARRAY_CONSTRUCTOR',
  'GROUPING_FUNCTION',
]);

const typeInfoBase = { type: 'data', alias: 'data', extension_info: 'empty' } as const;

const typeInfos: Readonly<Record<string, Shape>> = {
  GENERIC_TYPE_INFO: typeInfoBase,
  DECIMAL_TYPE_INFO: { ...typeInfoBase, width: 'data', scale: 'data' },
  STRING_TYPE_INFO: { ...typeInfoBase, collation: 'data' },
  LIST_TYPE_INFO: { ...typeInfoBase, child_type: 'type' },
  ARRAY_TYPE_INFO: { ...typeInfoBase, child_type: 'type', size: 'data' },
  STRUCT_TYPE_INFO: { ...typeInfoBase, child_types: 'typeField[]' },
  UNBOUND_TYPE_INFO: { ...typeInfoBase, name: 'data', catalog: 'empty', schema: 'empty', user_type_modifiers: 'value' },
};

const own = (shapes: Readonly<Record<string, Shape>>, key: unknown): Shape | undefined =>
  typeof key === 'string' && Object.hasOwn(shapes, key) ? shapes[key] : undefined;

/** The shape that a part must have; undefined when there is none for it. */
export function shapeOf(name: PartName, part: Readonly<Record<string, unknown>>): Shape | undefined {
  switch (name) {
    case 'expression':
      return own(expressions, part.class);
    case 'table':
      return own(tables, part.type);
    case 'query':
      return own(queries, part.type);
    case 'modifier':
      return own(modifiers, part.type);
    case 'typeInfo':
      return own(typeInfos, part.type);
    default:
      return records[name satisfies RecordName];
  }
}
