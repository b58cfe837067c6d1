import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useDeferredValue, useEffect, useRef, useState } from 'react';
import { api, ask } from '../api/client.ts';
import { useWords } from '../i18n/language.tsx';
import { addressOf, usePlace } from './router.tsx';
import { shellWords } from './words.ts';

/** Search over everything that the person can reach. The slash key leads here. */
export function SearchBox() {
  const t = useWords(shellWords);
  const { go } = usePlace();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLInputElement>(null);
  const q = useDeferredValue(text.trim());
  const { data } = useQuery({
    queryKey: ['search', q],
    queryFn: () => ask(api.GET('/api/v1/search', { params: { query: { q, limit: 12 } } })),
    enabled: q !== '',
    placeholderData: (before) => before,
  });
  useEffect(() => {
    const focus = (event: globalThis.KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.key !== '/' || target.closest('input, textarea, select, [contenteditable], .sql, canvas')) return;
      event.preventDefault();
      box.current?.focus();
    };
    addEventListener('keydown', focus);
    return () => removeEventListener('keydown', focus);
  }, []);

  const hits = q === '' ? [] : (data?.results ?? []);
  const open = (i: number) => {
    const hit = hits[i];
    if (!hit) return;
    setOpen(false);
    setText('');
    go(addressOf('workbooks', hit.workbook_id, 'tables', hit.name));
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setChosen(Math.min(chosen + 1, hits.length - 1));
    else if (event.key === 'ArrowUp') setChosen(Math.max(chosen - 1, 0));
    else if (event.key === 'Enter') open(chosen);
    else if (event.key === 'Escape') setOpen(false);
    else return;
    event.preventDefault();
  };
  const isListShown = isOpen && q !== '';
  return (
    <div className="search">
      <input
        ref={box}
        type="search"
        role="combobox"
        aria-label={t.search}
        aria-expanded={isListShown}
        aria-controls="search-hits"
        aria-activedescendant={isListShown && hits.length > 0 ? `hit-${chosen}` : undefined}
        placeholder={`${t.search}  /`}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={press}
      />
      <div id="search-hits" role="listbox" aria-label={t.search} hidden={!isListShown}>
        {hits.map((hit, i) => (
          <div
            key={`${hit.workbook_id} ${hit.name}`}
            id={`hit-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === chosen}
            // Before the box loses the focus.
            onMouseDown={(event) => {
              event.preventDefault();
              open(i);
            }}
          >
            <span>{hit.name}</span>
            <small className="dim">
              {hit.workbook_title}
              {hit.columns.length > 0 && ` · ${hit.columns.slice(0, 4).join(', ')}`}
              {hit.source !== null && ` · ${hit.source}`}
            </small>
          </div>
        ))}
        {data && hits.length === 0 && (
          <div role="option" aria-selected="false" tabIndex={-1} className="dim">
            {t.nothingFound}
          </div>
        )}
      </div>
    </div>
  );
}
