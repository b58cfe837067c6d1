import { useState } from 'react';
import { useSpeech, useWords } from '../i18n/language.tsx';
import { applyTheme, currentTheme } from './theme.ts';
import { shellWords } from './words.ts';

/** Language and colours, as this browser keeps them. */
export function Preferences() {
  const t = useWords(shellWords);
  const { language, setLanguage } = useSpeech();
  const [theme, setTheme] = useState(currentTheme);
  const switchTheme = () => {
    const next = theme === 'dark' ? 'light' : 'dark';
    applyTheme(next);
    setTheme(next);
  };
  return (
    <span className="row tight">
      <button type="button" className="plain" onClick={switchTheme} aria-label={t.theme} title={t.theme}>
        {theme === 'dark' ? '☀' : '☾'}
      </button>
      <button
        type="button"
        className="plain"
        lang={language === 'ja' ? 'en' : 'ja'}
        onClick={() => setLanguage(language === 'ja' ? 'en' : 'ja')}
        title={t.language}
      >
        {language === 'ja' ? 'English' : '日本語'}
      </button>
    </span>
  );
}
