/** Text that is HTML already. Everything else is escaped when it is put into a page. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | Part[];

/** A template of HTML: what is put into it is escaped, unless it is HTML itself. */
export function html(texts: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(texts.map((text, i) => text + (i < parts.length ? toHtml(parts[i] as Part) : '')).join(''));
}

function toHtml(part: Part): string {
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return part.map(toHtml).join('');
  return String(part).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
