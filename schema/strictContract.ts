/**
 * Puts `x-validate` in force: the strict form of a schema that is loose in the published contract, because generators of
 * clients cannot express it (values of several types, exactly one of several fields).
 */
export function tightenContract<Node>(node: Node): Node {
  if (Array.isArray(node)) return node.map(tightenContract) as Node;
  if (node === null || typeof node !== 'object') return node;
  const { 'x-validate': strict, ...rest } = node as Record<string, unknown>;
  const merged = { ...rest, ...(strict as object | undefined) };
  return Object.fromEntries(Object.entries(merged).map(([name, value]) => [name, tightenContract(value)])) as Node;
}
