import Negotiator from 'negotiator';

export type Language = 'en' | 'ja';

/** The language that a browser asks for, of those that pages are written in. */
export function chooseLanguage(accepted: string | null): Language {
  const [language] = new Negotiator({ headers: { 'accept-language': accepted ?? '' } }).languages(['en', 'ja']);
  return language === 'ja' ? 'ja' : 'en';
}
