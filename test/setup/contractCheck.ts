import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { Contract } from '../../api/http/contract.ts';

interface Declared {
  content?: Record<string, { schema?: object }>;
  headers?: Record<string, { required?: boolean }>;
}

interface CalledOperation {
  operationId: string;
  responses: Record<string, Declared>;
  security?: unknown[];
  'x-problems'?: string[];
}

type Info = Record<'x-common-problems' | 'x-common-problems-public', string[] | undefined>;

// Not the service's own validator: that one knows a single media type per status, and must not be its own judge.
const ajv = new Ajv2020({
  allErrors: true,
  strict: false,
  formats: {
    'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/,
    date: /^\d{4}-\d\d-\d\d$/,
    uri: (text: string) => URL.canParse(text),
    email: /^[^@\s]+@[^@\s]+$/,
    password: true,
    binary: true,
    int64: true,
  },
});
// Schemas that the contract shares are the same object everywhere: most answers need no new compilation.
const compiled = new WeakMap<object, ValidateFunction>();

function validatorOf(schema: object): ValidateFunction {
  const validate = compiled.get(schema) ?? ajv.compile(schema);
  compiled.set(schema, validate);
  return validate;
}

/** Says what of an answer does not fit the contract: undeclared status, problem, media type, body or missing header. */
export async function findContractBreaches(
  contract: Contract,
  request: { method: string; url: string },
  response: Response,
): Promise<string[]> {
  const path = new URL(request.url).pathname;
  const operation = contract.quick.router.matchOperation({ method: request.method, path, headers: {} }) as unknown as
    | CalledOperation
    | undefined;
  if (!operation?.operationId) return [];
  const where = `${operation.operationId} ${response.status}`;
  // Said once for the whole contract, in its description: the address has a literal path, which lacks the method, and a templated one, which has it.
  if (response.status === 405) return [];
  const declared = operation.responses[String(response.status)];
  if (!declared) return [`${where}: the status is not declared`];
  const breaches: string[] = [];
  for (const [name, header] of Object.entries(declared.headers ?? {})) {
    if (header.required && response.headers.get(name) === null) breaches.push(`${where}: header ${name} is missing`);
  }
  if (!response.headers.get('x-request-id')) breaches.push(`${where}: no X-Request-Id`);
  const type = (response.headers.get('content-type') ?? '').split(';')[0] ?? '';
  const content = declared.content ?? {};
  const types = Object.keys(content);
  if (types.length === 0) {
    if ((await response.clone().text()) !== '') breaches.push(`${where}: a body where none is declared`);
    return breaches;
  }
  if (!types.includes(type)) return [...breaches, `${where}: media type ${type} is not one of ${types.join(', ')}`];
  const schema = content[type]?.schema;
  if (schema && /[/+]json$/.test(type)) {
    const validate = validatorOf(schema);
    if (!validate(await response.clone().json()))
      breaches.push(...(validate.errors ?? []).map((error) => `${where}: body${error.instancePath} ${error.message}`));
  }
  if (response.status >= 400) breaches.push(...(await checkProblem(where, contract, operation, response)));
  return breaches;
}

async function checkProblem(where: string, contract: Contract, operation: CalledOperation, response: Response): Promise<string[]> {
  const problem = (await response.clone().json()) as Record<'type' | 'detail' | 'suggested_fix' | 'instance', string> & { status: number };
  const slug = problem.type?.replace('urn:svc:problem:', '') ?? '';
  const info = contract.quick.document.info as unknown as Info;
  const common = info[(operation.security ?? []).length > 0 ? 'x-common-problems' : 'x-common-problems-public'] ?? [];
  return [
    ...(problem.status === response.status ? [] : [`${where}: the document says ${problem.status}`]),
    ...(problem.detail && problem.suggested_fix ? [] : [`${where}: detail or suggested_fix is missing`]),
    ...[problem.detail, problem.suggested_fix]
      .filter((text) => /[.?!…]\.$/.test(text ?? ''))
      .map((text) => `${where}: two marks at the end of "${text}"`),
    ...(problem.instance === response.headers.get('x-request-id') ? [] : [`${where}: instance is not the request id`]),
    ...([...common, ...(operation['x-problems'] ?? [])].includes(slug) ? [] : [`${where}: the problem ${slug} is not declared`]),
  ];
}
