import type { Theme } from '@glideapps/glide-data-grid';
import { useEffect, useState } from 'react';

/** The colours of the page, for what is drawn on a canvas. */
export function useGridTheme(): Partial<Theme> {
  const [theme, setTheme] = useState(readTheme);
  useEffect(() => {
    const read = () => setTheme(readTheme());
    addEventListener('themechange', read);
    return () => removeEventListener('themechange', read);
  }, []);
  return theme;
}

export function readColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function readTheme(): Partial<Theme> {
  const [ink, dim, line, ground, box, hover, link, onLink] = ['ink', 'dim', 'line', 'ground', 'box', 'hover', 'link', 'on-link'].map(
    readColor,
  );
  return {
    accentColor: link,
    accentFg: onLink,
    // The canvas takes plain colours only.
    accentLight: `${link}26`,
    textDark: ink,
    textMedium: dim,
    textLight: dim,
    textHeader: ink,
    textHeaderSelected: onLink,
    bgCell: ground,
    bgCellMedium: box,
    bgHeader: box,
    bgHeaderHovered: hover,
    bgHeaderHasFocus: hover,
    borderColor: line,
    horizontalBorderColor: line,
    drilldownBorder: line,
    linkColor: link,
    bgIconHeader: dim,
    fgIconHeader: ground,
    baseFontStyle: '13px',
    headerFontStyle: '600 13px',
    editorFontSize: '13px',
    fontFamily: "system-ui, 'Hiragino Sans', 'Noto Sans CJK JP', 'Noto Sans JP', sans-serif",
    cellHorizontalPadding: 8,
    cellVerticalPadding: 3,
  } as Partial<Theme>;
}
