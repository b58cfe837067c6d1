export type Theme = 'light' | 'dark';
const kept = 'console.theme';

export function currentTheme(): Theme {
  const stored = localStorage.getItem(kept);
  if (stored === 'light' || stored === 'dark') return stored;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/** The colours follow the attribute; canvases are told by the event. */
export function applyTheme(chosen?: Theme): void {
  if (chosen) localStorage.setItem(kept, chosen);
  document.documentElement.dataset.theme = currentTheme();
  dispatchEvent(new Event('themechange'));
}
