/**
 * What to tell those whose file stays raw: what happened, and what they can do. It is sent as a header too, so it is ASCII and
 * quotes nothing of the file.
 */
export function explainFallBack(reason: string): string {
  if (reason === 'no_credits')
    return (
      'The account is out of credits, so the sheets stay as raw tables. Buy credits or wait for the next month, then send the same ' +
      'file again. On an installation of your own, SVC_CREDITS=unlimited lifts the limit.'
    );
  if (reason === 'building')
    return (
      'The same content is being structured for another source right now, so the sheets stay as raw tables. Send the same file again ' +
      'in a moment: it is then structured at no charge.'
    );
  return (
    'The sheets could not be structured, so they stay as raw tables; structuring_reason says why. Use these, or correct the regions: ' +
    'analyze the source, put its parse spec, materialize it.'
  );
}

/** What to tell those whose file was read as somebody corrected one before; quotes nothing of the file either. */
export function explainLearned(sheets: number): string {
  const which = sheets === 1 ? 'A sheet was' : `${sheets} sheets were`;
  return `${which} read as one of the same layout was corrected before; learned in the parse spec says which.`;
}
