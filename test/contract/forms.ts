/** Fields of a multipart form, and its files; a file stands in the field `file` unless it says another. */
export interface SentForm {
  fields: Record<string, string>;
  files: { field?: string; name: string; content: string | Uint8Array }[];
}

export function makeForm({ fields, files }: SentForm): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const { field, name, content } of files) form.append(field ?? 'file', new Blob([content as Uint8Array<ArrayBuffer>]), name);
  return form;
}
