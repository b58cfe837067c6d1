import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

/**
 * What generators of clients trip over, by the look of the published contract. `npm run clients` makes, compiles and uses six
 * clients.
 */

type Node = Record<string, unknown>;
// As YAML 1.1, which many programs still read: there `off` is false.
const published = parse(readFileSync(new URL('../../openapi.yaml', import.meta.url), 'utf8'), { version: '1.1' }) as Node;

interface Found {
  at: string;
  node: Node;
}

/** All objects of the contract, without examples and without what only the service itself checks. */
function* walk(node: unknown, at = ''): Generator<Found> {
  if (Array.isArray(node)) for (const [i, each] of node.entries()) yield* walk(each, `${at}/${i}`);
  else if (node && typeof node === 'object') {
    yield { at, node: node as Node };
    for (const [name, each] of Object.entries(node))
      if (!['example', 'examples', 'x-validate'].includes(name)) yield* walk(each, `${at}/${name}`);
  }
}
const objects = [...walk(published)];
const schemas = Object.entries((published.components as { schemas: Record<string, Node> }).schemas);
const places = (matches: (found: Found) => boolean) => objects.filter(matches).map(({ at }) => at);
const isEnum = ({ node }: Found) => Array.isArray(node.enum);

describe('the published contract', () => {
  it('has no value of several types', () => {
    const isMixed = (type: unknown) => Array.isArray(type) && type.filter((each) => each !== 'null').length > 1;
    expect(places(({ node }) => isMixed(node.type))).toEqual([]);
  });

  it('has no enum with null in it', () => {
    expect(places((found) => isEnum(found) && (found.node.enum as unknown[]).includes(null))).toEqual([]);
  });

  it('names every enum of two values or more that is used twice', () => {
    const inline = objects.filter(
      (found) => isEnum(found) && (found.node.enum as unknown[]).length > 1 && !/^\/components\/schemas\/\w+$/.test(found.at),
    );
    const values = inline.map(({ node }) => JSON.stringify([...(node.enum as unknown[])].sort()));
    expect(inline.filter((_, i) => values.indexOf(values[i] as string) !== i).map(({ at }) => at)).toEqual([]);
  });

  it('tells what of several forms is meant by a field', () => {
    expect(places(({ node }) => Array.isArray(node.oneOf) && node.discriminator === undefined)).toEqual([]);
  });

  it('has no two named constants of one name, which Go cannot have', () => {
    const constants = schemas.flatMap(([, { type, enum: values, 'x-enum-varnames': names }]) =>
      type === 'string' && Array.isArray(values)
        ? ((names ?? values) as string[]).map((name) => name.replace(/\W+/g, '_').toUpperCase())
        : [],
    );
    expect(constants.filter((name, i) => constants.indexOf(name) !== i)).toEqual([]);
  });

  it('has no schema with the name of something generated: a response of an operation, or a class of the language', () => {
    const operations = objects.flatMap(({ node }) => (typeof node.operationId === 'string' ? [node.operationId.toLowerCase()] : []));
    const generated = new Set([...operations.map((id) => `${id}response`), 'conflict', 'event', 'file', 'error', 'request', 'response']);
    expect(schemas.map(([name]) => name).filter((name) => generated.has(name.toLowerCase()))).toEqual([]);
  });

  it('has no words that YAML 1.1 reads as booleans', () => {
    expect(
      objects.flatMap(({ node }) => (Array.isArray(node.enum) ? node.enum : [])).filter((value) => typeof value === 'boolean'),
    ).toEqual([]);
  });

  it('sends no example in a parameter that can be left out', () => {
    expect(places(({ node }) => typeof node.in === 'string' && !node.required && ('example' in node || 'examples' in node))).toEqual([]);
  });

  it('declares 413 everywhere: an address or a header can be too large', () => {
    const forgets = ({ node }: Found) => typeof node.operationId === 'string' && !('413' in (node.responses as Node));
    expect(places(forgets)).toEqual([]);
  });

  it('has the path parameters in each operation', () => {
    expect(Object.entries(published.paths as Record<string, Node>).filter(([, item]) => 'parameters' in item)).toEqual([]);
  });
});
