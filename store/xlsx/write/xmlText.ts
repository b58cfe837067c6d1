/** What XML cannot hold as it is, and texts that would be read as such an escape. With `u`, only surrogates without their pair match. */
const special = /[&<>"\ufffe\uffff\p{Cs}]|(?![\t\n])\p{Cc}|_x(?=[0-9A-Fa-f]{4}_)/u;
const allSpecial = new RegExp(special, 'gu');

export const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', _x: '_x005F_x' };

/** A text as the content of an element or attribute. Characters that XML cannot hold are written as Excel does: `_x000D_`. */
export function escapeXml(text: string): string {
  return special.test(text) ? text.replace(allSpecial, (found) => entities[found] ?? escapeCode(found.charCodeAt(0))) : text;
}

/** How Excel writes what XML cannot hold; a text that looks so must have its underscore written this way. */
export function escapeCode(code: number): string {
  return `_x${code.toString(16).toUpperCase().padStart(4, '0')}_`;
}

/** Programs drop the white space around a text unless it says that they must not. */
export function textElement(text: string): string {
  return /^\s|\s$|\n/.test(text) ? `<t xml:space="preserve">${escapeXml(text)}</t>` : `<t>${escapeXml(text)}</t>`;
}
