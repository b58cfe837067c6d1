type Node = Record<string, unknown>;

/** Values, not descriptions of values: they are left as they are. */
const isValue = (key: string) => ['example', 'examples', 'default', 'enum'].includes(key) || key.startsWith('x-');

const isNull = (schema: unknown) => (schema as Node | null)?.type === 'null';

/**
 * Writes what the contract uses of OpenAPI 3.1 in the words of 3.0: null as one of the types, null as one of the choices, and
 * something beside a reference. Swagger UI takes many seconds for a contract of this size in 3.1 and a fraction of one in 3.0.
 */
export function toOpenApi30(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(toOpenApi30);
  if (node === null || typeof node !== 'object') return node;
  const entries = Object.entries(node).map(([key, value]) => {
    if (isValue(key)) return [key, value];
    // Here the keys are names of fields, such as "default".
    if (key === 'properties')
      return [key, Object.fromEntries(Object.entries(value as Node).map(([name, each]) => [name, toOpenApi30(each)]))];
    return [key, toOpenApi30(value)];
  });
  return simplify(Object.fromEntries(entries) as Node);
}

function simplify(node: Node): Node {
  const { type, anyOf, $ref, ...rest } = node;
  if (Array.isArray(type)) {
    const types = type.filter((each) => each !== 'null');
    return { ...rest, ...(types.length === 1 ? { type: types[0] } : {}), ...(types.length < type.length ? { nullable: true } : {}) };
  }
  if (Array.isArray(anyOf) && anyOf.some(isNull)) {
    const others = anyOf.filter((each) => !isNull(each));
    return { ...rest, ...(others.length === 1 ? { allOf: others } : { anyOf: others }), nullable: true };
  }
  if ($ref !== undefined && Object.keys(rest).length > 0) return { ...rest, allOf: [{ $ref }] };
  return node;
}
