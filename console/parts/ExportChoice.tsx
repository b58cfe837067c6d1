import type { FormEvent } from 'react';
import { useWords } from '../i18n/language.tsx';
import { commonWords } from './words.ts';

const formats = ['csv', 'json', 'parquet', 'arrow', 'ndjson'];

/** A file in one of the formats. The choice alone does nothing: arrow keys change it, too. */
export function ExportChoice({ onExport, more = [] }: { onExport: (format: string) => void; more?: string[] }) {
  const t = useWords(commonWords);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onExport(String(new FormData(event.currentTarget).get('format')));
  };
  return (
    <form className="row tight" onSubmit={submit}>
      <select name="format" aria-label={t.format}>
        {[...more, ...formats].map((format) => (
          <option key={format}>{format}</option>
        ))}
      </select>
      <button type="submit">{t.export}</button>
    </form>
  );
}
