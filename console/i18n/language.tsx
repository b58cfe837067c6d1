import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';

export type Language = 'en' | 'ja';
const kept = 'console.language';

/** The words of a page or a part, in both languages. They stand beside it, and are loaded with it. */
export type Words<T> = Record<Language, T>;
export const defineWords = <T,>(words: { en: T; ja: NoInfer<T> }): Words<T> => words;

/** What was chosen here before, else what the browser asks for. */
function chooseLanguage(): Language {
  const stored = localStorage.getItem(kept);
  if (stored === 'en' || stored === 'ja') return stored;
  const wanted = navigator.languages.find((each) => /^(en|ja)\b/.test(each));
  return wanted?.startsWith('ja') ? 'ja' : 'en';
}

interface Speech {
  language: Language;
  setLanguage(language: Language): void;
  formatNumber(value: number): string;
  formatTime(iso: string): string;
  formatBytes(bytes: number): string;
}

const LanguageContext = createContext<Speech | null>(null);

export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, setChosen] = useState(chooseLanguage);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const speech = useMemo<Speech>(() => {
    const numbers = new Intl.NumberFormat(language);
    const times = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
    const megabytes = new Intl.NumberFormat(language, { style: 'unit', unit: 'megabyte', maximumFractionDigits: 1 });
    const kilobytes = new Intl.NumberFormat(language, { style: 'unit', unit: 'kilobyte', maximumFractionDigits: 0 });
    return {
      language,
      setLanguage(next) {
        localStorage.setItem(kept, next);
        setChosen(next);
      },
      formatNumber: (value) => numbers.format(value),
      formatTime: (iso) => times.format(new Date(iso)),
      formatBytes: (bytes) => (bytes < 1e6 ? kilobytes.format(Math.ceil(bytes / 1e3)) : megabytes.format(bytes / 1e6)),
    };
  }, [language]);
  return <LanguageContext.Provider value={speech}>{children}</LanguageContext.Provider>;
}

export function useSpeech(): Speech {
  const speech = useContext(LanguageContext);
  if (!speech) throw new Error('outside of the language provider');
  return speech;
}

/** The words in the language that is chosen. */
export function useWords<T>(words: Words<T>): T {
  return words[useSpeech().language];
}
