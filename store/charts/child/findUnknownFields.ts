import { splitAccessPath } from 'vega';
import { nearestName } from '../../../core/cells/nearestName.ts';
import type { ProblemItem } from '../../../core/errors.ts';

/** What transforms call their results when they are not told. */
const usualResults = ['key', 'value', 'density', 'prob'];
/** Their results are named by values, so nobody knows the names before. */
const namingByValues = ['pivot'];
const nameLists = new Set(['groupby', 'fold', 'flatten']);

/** Fields of a config that are neither columns of the table nor made by a transform. */
export function findUnknownFields(config: unknown, columns: string[]): ProblemItem[] {
  const named: { pointer: string; field: string }[] = [];
  const known = new Set([...columns, ...usualResults]);
  let mayBeAnything = false;
  const visit = (node: unknown, pointer: string): void => {
    if (node === null || typeof node !== 'object') return;
    for (const [key, value] of Object.entries(node)) {
      const place = `${pointer}/${key}`;
      if (key === 'as') for (const name of [value].flat()) known.add(String(name));
      if (namingByValues.includes(key)) mayBeAnything = true;
      if (key === 'field' && typeof value === 'string') named.push({ pointer: place, field: value });
      if (nameLists.has(key) && Array.isArray(value))
        for (const [i, each] of value.entries()) if (typeof each === 'string') named.push({ pointer: `${place}/${i}`, field: each });
      visit(value, place);
    }
  };
  visit(config, '/config');
  if (mayBeAnything) return [];
  return named.flatMap(({ pointer, field }) => {
    if (known.has(field) && !/[.[\]]/.test(field)) return [];
    const [name = field] = splitAccessPath(field);
    if (known.has(name)) return [];
    return [{ pointer, detail: explain(field, columns) }];
  });
}

function explain(field: string, columns: string[]): string {
  if (columns.includes(field)) return `the column ${field} has a dot or a bracket in its name: write ${escapeName(field)}`;
  const near = nearestName(field, columns);
  if (near) return `is not a column of the table; did you mean ${near}?`;
  return `is not a column of the table, which has ${columns.slice(0, 20).join(', ')}${columns.length > 20 ? ', …' : ''}`;
}

const escapeName = (name: string) => name.replace(/[.[\]]/g, '\\$&');
