import type { Contract } from '../../api/http/contract.ts';

interface Declared {
  content?: Record<string, { schema?: unknown }>;
  headers?: Record<string, { required?: boolean }>;
}

/** Says what of an answer does not fit the contract: undeclared status, media type, body or missing header. */
export async function findContractBreaches(
  contract: Contract,
  request: { method: string; url: string },
  response: Response,
): Promise<string[]> {
  const path = new URL(request.url).pathname;
  const operation = contract.quick.router.matchOperation({ method: request.method, path, headers: {} });
  if (!operation?.operationId) return [];
  const where = `${operation.operationId} ${response.status}`;
  const declared = (operation.responses as Record<string, Declared>)[String(response.status)];
  if (!declared) return [`${where}: the status is not declared`];
  const breaches: string[] = [];
  for (const [name, header] of Object.entries(declared.headers ?? {})) {
    if (header.required && response.headers.get(name) === null) breaches.push(`${where}: header ${name} is missing`);
  }
  if (!response.headers.get('x-request-id')) breaches.push(`${where}: no X-Request-Id`);
  const type = (response.headers.get('content-type') ?? '').split(';')[0] ?? '';
  const types = Object.keys(declared.content ?? {});
  if (types.length === 0) {
    if ((await response.clone().text()) !== '') breaches.push(`${where}: a body where none is declared`);
    return breaches;
  }
  if (!types.includes(type)) return [...breaches, `${where}: media type ${type} is not one of ${types.join(', ')}`];
  if (type.endsWith('json') && !type.includes('ndjson')) {
    // openapi-backend checks one media type per status; the problem documents are checked by hand below.
    const body: unknown = await response.clone().json();
    const result = contract.thorough.validator.validateResponse(body, operation.operationId, response.status);
    for (const error of result.errors ?? []) breaches.push(`${where}: body${error.instancePath} ${error.message}`);
    if (type === 'application/problem+json')
      breaches.push(...checkProblem(where, body, response, operation as unknown as { 'x-problems'?: string[] }, contract));
  }
  return breaches;
}

function checkProblem(
  where: string,
  body: unknown,
  response: Response,
  operation: { 'x-problems'?: string[] },
  contract: Contract,
): string[] {
  const problem = body as { type?: string; status?: number; detail?: string; suggested_fix?: string; instance?: string };
  const slug = problem.type?.replace('urn:svc:problem:', '') ?? '';
  const common = (contract.quick.document.info as unknown as { 'x-common-problems'?: string[] })['x-common-problems'] ?? [];
  return [
    ...(problem.status === response.status ? [] : [`${where}: the document says ${problem.status}`]),
    ...(problem.detail && problem.suggested_fix ? [] : [`${where}: detail or suggested_fix is missing`]),
    ...(problem.instance === response.headers.get('x-request-id') ? [] : [`${where}: instance is not the request id`]),
    ...([...common, ...(operation['x-problems'] ?? []), 'not-yet-available'].includes(slug)
      ? []
      : [`${where}: the problem ${slug} is not declared`]),
  ];
}
