import { useRef, useState } from 'react';
import { useWords } from '../../i18n/language.tsx';
import { Dialog } from '../../parts/Dialog.tsx';
import { commonWords } from '../../parts/words.ts';
import { settingsWords } from './words.ts';

/** A secret that was just made. It is nowhere else in the page, and gone when this is closed. */
export function Secret({ title, text, onClose }: { title: string; text: string; onClose: () => void }) {
  const t = useWords(settingsWords);
  const common = useWords(commonWords);
  const [said, setSaid] = useState(common.copy);
  const shown = useRef<HTMLElement>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid(common.copied);
    } catch {
      // Browsers keep the clipboard from pages that came over plain HTTP: the keyboard is left.
      if (shown.current) getSelection()?.selectAllChildren(shown.current);
      setSaid(t.selected);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <p className="note">{t.shownOnce}</p>
      <p>
        <code ref={shown} className="secret">
          {text}
        </code>
      </p>
      <div className="row">
        <button type="button" className="main" onClick={() => void copy()}>
          {said}
        </button>
        <button type="button" onClick={onClose}>
          {common.close}
        </button>
      </div>
    </Dialog>
  );
}
