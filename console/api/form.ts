/** The body of an operation that takes a form with a file. Its type in the contract says `string` for the file. */
export function makeForm(fields: Record<string, string | File>): { body: never; bodySerializer: () => FormData } {
  const form = new FormData();
  // The file comes last: what goes before it is known when its bytes arrive.
  for (const [name, value] of Object.entries(fields)) if (typeof value === 'string') form.set(name, value);
  for (const [name, value] of Object.entries(fields)) if (typeof value !== 'string') form.set(name, value);
  return { body: {} as never, bodySerializer: () => form };
}
