/** A notice in an answer is sent as a header, too, for clients that look at nothing else. */
export function noticeHeaders(body: object | undefined): Record<string, string> {
  return body && 'notice' in body && typeof body.notice === 'string' ? { 'X-SVC-Notice': body.notice } : {};
}
