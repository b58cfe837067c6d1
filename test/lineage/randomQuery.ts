import fc from 'fast-check';

/** Random SELECTs over t(a, b, c, d) and u(a, e, f), of numbers. Their rows do not depend on how the engine runs them. */

export const inputs = [
  { name: 't', columns: ['a', 'b', 'c', 'd'] },
  { name: 'u', columns: ['a', 'e', 'f'] },
];

/** Decisions of the generator, from one list of numbers, so that what fails can be made smaller. */
class Choices {
  private next = 0;
  private aliases = 0;

  constructor(private readonly numbers: number[]) {}

  below(count: number): number {
    const number = this.numbers[this.next] ?? 0;
    this.next += 1;
    return number % count;
  }

  of<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  alias(): string {
    this.aliases += 1;
    return `q${this.aliases}`;
  }
}

/** A query and how many columns it has, which are named x0, x1, …. */
interface Query {
  sql: string;
  width: number;
}

const names = (width: number, table = '') => Array.from({ length: width }, (_, i) => (table === '' ? `x${i}` : `${table}.x${i}`));
const select = (expressions: string[], rest: string): Query => ({
  sql: `SELECT ${expressions.map((expression, i) => `${expression} AS x${i}`).join(', ')} ${rest}`,
  width: expressions.length,
});
const all = (width: number) => names(width).join(', ');

function makeExpression(choices: Choices, columns: string[]): string {
  const [one, other] = [choices.of(columns), choices.of(columns)];
  return choices.of([
    one,
    one,
    `${one} + ${other}`,
    `CASE WHEN ${one} > 2 THEN ${other} ELSE 0 END`,
    `coalesce(${one}, ${other}, 7)`,
    `greatest(${one}, ${other})`,
    `CAST(list_sum(list_transform([1, 2], lambda v: v * ${one})) AS BIGINT)`,
    '5',
  ]);
}

const makeCondition = (choices: Choices, columns: string[]) =>
  `${choices.of(columns)} ${choices.of(['>', '=', '<>', 'IS DISTINCT FROM', '<='])} ${choices.of([...columns, '1', '2'])}`;

type Form = (choices: Choices, part: () => Query) => Query;

const readInput: Form = (choices) => {
  const { name, columns } = choices.of(inputs);
  const shown = columns.slice(0, 2 + choices.below(columns.length - 1));
  return select(shown, `FROM ${name}${choices.of(['', ` WHERE ${makeCondition(choices, columns)}`])}`);
};

const project: Form = (choices, part) => {
  const { sql, width } = part();
  const columns = names(width);
  const filter = choices.of(['', ` WHERE ${makeCondition(choices, columns)}`]);
  const expressions = Array.from({ length: 1 + choices.below(3) }, () => makeExpression(choices, columns));
  return select(expressions, `FROM (${sql}) ${choices.alias()}${filter}`);
};

const aggregates = (choices: Choices, columns: string[]) =>
  Array.from({ length: 1 + choices.below(2) }, () => {
    const call = choices.of([
      `sum(${choices.of(columns)})`,
      'count(*)',
      `max(${choices.of(columns)})`,
      `count(DISTINCT ${choices.of(columns)})`,
    ]);
    const filter = choices.of(['', '', ` FILTER (${makeCondition(choices, columns)})`]);
    return `CAST(${call}${filter} AS BIGINT)`;
  });

const group: Form = (choices, part) => {
  const { sql, width } = part();
  const columns = names(width);
  const from = `FROM (${sql}) ${choices.alias()}`;
  const [key, second] = [choices.of(columns), choices.of(columns)];
  const having = choices.of(['', ` HAVING count(*) > 1`, ` HAVING max(${second}) > 2`]);
  switch (choices.below(4)) {
    case 0:
      return select(aggregates(choices, columns), from);
    case 1:
      return select([key, ...aggregates(choices, columns)], `${from} GROUP BY ${key}${having}`);
    case 2:
      return select(aggregates(choices, columns), `${from} GROUP BY ${key}, ${second} + 1${having}`);
    default:
      return select(
        [key, `grouping(${key})`, ...aggregates(choices, columns)],
        `${from} GROUP BY ROLLUP (${key}${key === second ? '' : `, ${second}`})`,
      );
  }
};

const join: Form = (choices, part) => {
  const [left, right] = [part(), part()];
  const [l, r] = [choices.alias(), choices.alias()];
  const [ofLeft, ofRight] = [names(left.width, l), names(right.width, r)];
  const kind = choices.of(['JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN', 'SEMI JOIN', 'ANTI JOIN']);
  const equal = `${choices.of(ofLeft)} = ${choices.of(ofRight)}`;
  // Only joins that need no equality take other conditions.
  const condition =
    kind === 'FULL JOIN'
      ? equal
      : choices.of([
          equal,
          `${equal} AND ${choices.of(ofLeft)} < ${choices.of(ofRight)}`,
          `${choices.of(ofLeft)} + ${choices.of(ofRight)} = 4`,
        ]);
  const columns = /SEMI|ANTI/.test(kind) ? ofLeft : [...ofLeft, ...ofRight];
  return select(columns.slice(0, 5), `FROM (${left.sql}) ${l} ${kind} (${right.sql}) ${r} ON ${condition}`);
};

const subquery: Form = (choices, part) => {
  const [outer, inner] = [part(), part()];
  const [o, i] = [choices.alias(), choices.alias()];
  const [ofOuter, ofInner] = [names(outer.width, o), names(inner.width, i)];
  const from = `FROM (${inner.sql}) ${i}`;
  const match = `${choices.of(ofInner)} = ${choices.of(ofOuter)}`;
  const aggregate = choices.of([`max(${choices.of(ofInner)})`, 'count(*)', `CAST(sum(${choices.of(ofInner)}) AS BIGINT)`]);
  const rest = `FROM (${outer.sql}) ${o}`;
  const one = choices.of(ofOuter);
  switch (choices.below(6)) {
    case 0:
      return select([one, `(SELECT ${aggregate} ${from})`], rest);
    case 1:
      return select([one, `(SELECT ${aggregate} ${from} WHERE ${match})`], rest);
    case 2:
      return select([...ofOuter], `${rest} WHERE ${choices.of(['', 'NOT '])}EXISTS (SELECT 1 ${from} WHERE ${match})`);
    case 3:
      return select([...ofOuter], `${rest} WHERE ${one} ${choices.of(['IN', 'NOT IN'])} (SELECT ${choices.of(ofInner)} ${from})`);
    case 4:
      return select([one, `CAST(${choices.of(ofOuter)} IN (SELECT ${choices.of(ofInner)} ${from} WHERE ${match}) AS INTEGER)`], rest);
    default:
      return select(
        [one, 'z.v'],
        `${rest}, LATERAL (SELECT ${choices.of(ofInner)} + ${choices.of(ofOuter)} AS v ${from} WHERE ${match}) z`,
      );
  }
};

const window: Form = (choices, part) => {
  const { sql, width } = part();
  const columns = names(width);
  const from = `FROM (${sql}) ${choices.alias()}`;
  const over = `PARTITION BY ${choices.of(columns)}`;
  const call = choices.of([
    `CAST(sum(${choices.of(columns)}) OVER (${over} ORDER BY ${choices.of(columns)}) AS BIGINT)`,
    `row_number() OVER (${over} ORDER BY ${all(width)})`,
    `lag(${choices.of(columns)}, 1, 0) OVER (ORDER BY ${all(width)})`,
    `count(*) OVER (${over})`,
    'count(*) OVER ()',
  ]);
  const qualify = choices.of(['', '', ` QUALIFY row_number() OVER (${over} ORDER BY ${all(width)}) = 1`]);
  return select([choices.of(columns), call], `${from}${qualify}`);
};

const combine: Form = (choices, part) => {
  const [left, right] = [part(), part()];
  const width = Math.min(left.width, right.width);
  const operator = choices.of(['UNION ALL', 'UNION', 'EXCEPT', 'INTERSECT', 'EXCEPT ALL', 'INTERSECT ALL']);
  const side = ({ sql }: Query) => `SELECT ${all(width)} FROM (${sql}) ${choices.alias()}`;
  return select(names(width), `FROM (${side(left)} ${operator} ${side(right)}) ${choices.alias()}`);
};

const pick: Form = (choices, part) => {
  const { sql, width } = part();
  const columns = names(width);
  const from = `FROM (${sql}) ${choices.alias()}`;
  switch (choices.below(4)) {
    case 0:
      return { sql: `SELECT DISTINCT ${all(width)} ${from}`, width };
    case 1:
      return { sql: `SELECT DISTINCT ON (${choices.of(columns)}) ${all(width)} ${from} ORDER BY ${all(width)}`, width };
    case 2:
      return { sql: `SELECT ${all(width)} ${from} ORDER BY ${all(width)} LIMIT ${1 + choices.below(4)}`, width };
    default:
      return { sql: `SELECT ${all(width)} ${from} ORDER BY ${all(width)} OFFSET (SELECT count(*) FROM u WHERE e > 2)`, width };
  }
};

const unnest: Form = (choices, part) => {
  const { sql, width } = part();
  const columns = names(width);
  const one = choices.of(columns);
  const from = `FROM (${sql}) ${choices.alias()}`;
  return choices.of([
    select([one, `unnest([${choices.of(columns)}, 1])`], from),
    select([one, 'g.i'], `${from}, generate_series(1, ${choices.of(columns)}) g(i)`),
    select([one, 'g.i'], `${from}, unnest([${choices.of(columns)}, ${choices.of(columns)}]) g(i)`),
  ]);
};

const cte: Form = (choices, part) => {
  const { sql, width } = part();
  const columns = names(width);
  const [l, r] = [choices.alias(), choices.alias()];
  if (choices.below(2) === 0) {
    const next = columns.map((_, i) => columns[(i + 1) % width]).map((name, i) => (i === 0 ? `${name} + 1` : name));
    return {
      sql: `WITH RECURSIVE r(${all(width)}) AS (SELECT DISTINCT ${all(width)} FROM (${sql}) ${l} UNION SELECT ${next.join(', ')} FROM r WHERE ${choices.of(columns)} < 4 AND x0 < 6) SELECT ${all(width)} FROM r`,
      width,
    };
  }
  const kept = choices.of(['MATERIALIZED', 'NOT MATERIALIZED']);
  const on = `${l}.${choices.of(columns)} = ${r}.${choices.of(columns)}`;
  return select(
    [choices.of(names(width, l)), choices.of(names(width, r))],
    `FROM (WITH m AS ${kept} (${sql}) SELECT * FROM m) ${l} JOIN (WITH m AS ${kept} (${sql}) SELECT x.* FROM m x JOIN m y USING (x0)) ${r} ON ${on}`,
  );
};

const forms: Form[] = [readInput, project, group, join, subquery, window, combine, pick, unnest, cte];

function build(choices: Choices, depth: number): Query {
  if (depth === 0) return readInput(choices, () => build(choices, 0));
  return choices.of(forms)(choices, () => build(choices, depth - 1));
}

export const randomQuery: fc.Arbitrary<Query> = fc
  .record({ depth: fc.integer({ min: 1, max: 3 }), numbers: fc.array(fc.nat({ max: 1_000_000 }), { minLength: 120, maxLength: 120 }) })
  .map(({ depth, numbers }) => build(new Choices(numbers), depth));
