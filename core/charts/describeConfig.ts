type Config = Record<string, unknown>;

const compositions = ['layer', 'hconcat', 'vconcat', 'concat', 'facet', 'repeat', 'spec'];

/** The kind of mark, or how several views are put together. Null: neither is said. */
export function findChartType(config: Config): string | null {
  const { mark } = config;
  const type = typeof mark === 'object' && mark !== null ? (mark as Config).type : mark;
  if (typeof type === 'string') return type;
  return compositions.find((key) => config[key] !== undefined) ?? null;
}

export function findTitle({ title }: Config): string | null {
  const text = typeof title === 'object' && title !== null && !Array.isArray(title) ? (title as Config).text : title;
  const lines = [text].flat().filter((line): line is string => typeof line === 'string');
  return lines.join(' ').trim() || null;
}

/**
 * The columns that a config may read: those whose name stands in one of its texts, be it a field or part of an expression.
 * Characters that must be escaped in a field count with and without.
 */
export function findUsedColumns<Column extends { name: string }>(config: Config, columns: Column[]): Column[] {
  const texts: string[] = [];
  const visit = (node: unknown): void => {
    if (typeof node === 'string') texts.push(node, node.replaceAll('\\', ''));
    else if (node !== null && typeof node === 'object') for (const each of Object.values(node)) visit(each);
  };
  visit(config);
  const all = texts.join('\n');
  return columns.filter(({ name }) => all.includes(name));
}
