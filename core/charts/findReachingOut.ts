const refusedElement = /^<(?:script|foreignObject|iframe|image|style|a|use)\b/i;
const refusedAttribute = /^(?:(?:xlink:)?href|on\w+)$/i;
/** A reference to anything but a part of the picture. */
const outside = /url\(\s*(?:&quot;|')?(?!#)|@import/i;

/**
 * Where a picture would have a browser load something or go somewhere, or null. Angle brackets and quotation marks in texts are
 * escaped, so tags can be told from them.
 */
export function findReachingOut(svg: string): string | null {
  for (const [tag] of svg.matchAll(/<[^>]*>/g)) {
    if (refusedElement.test(tag)) return tag.slice(0, 200);
    for (const [attribute, name = '', value = ''] of tag.matchAll(/([\w:-]+)="([^"]*)"/g)) {
      // Descriptions are read to people, and lead nowhere.
      const isText = name.startsWith('aria-');
      if (refusedAttribute.test(name) || (!isText && outside.test(value))) return attribute.slice(0, 200);
    }
  }
  return null;
}
