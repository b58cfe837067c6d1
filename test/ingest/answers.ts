/** The body of an answer, which must be a success. */
export async function answerOf<Body>(response: Response): Promise<Body> {
  const body = await response.json();
  if (!response.ok) throw new Error(`${response.status}: ${JSON.stringify(body)}`);
  return body as Body;
}

/** Status and slug. */
export async function problemOf(response: Response): Promise<[number, string]> {
  const body = (await response.json()) as { type?: string };
  return [response.status, (body.type ?? '').replace('urn:svc:problem:', '')];
}
