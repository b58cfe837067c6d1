export type Verdict = 'delivered' | 'gone' | 'failed';

/** What a receiver's status says, and why in words; nothing else of its answer is told to anybody. */
export function judgeAnswer(status: number): { verdict: Verdict; error: string | null } {
  if (status >= 200 && status < 300) return { verdict: 'delivered', error: null };
  if (status === 410) return { verdict: 'gone', error: 'The receiver answered 410: it wants no more events. The webhook is switched off.' };
  if (status >= 300 && status < 400) return { verdict: 'failed', error: `The receiver answered ${status}. Redirects are not followed.` };
  return { verdict: 'failed', error: `The receiver answered ${status}.` };
}
