import { useState } from 'react';
import { useWords } from '../../i18n/language.tsx';
import { Dialog } from '../../parts/Dialog.tsx';
import { commonWords } from '../../parts/words.ts';
import { settingsWords } from './words.ts';

/** A secret that was just made. It is nowhere else in the page, and gone when this is closed. */
export function Secret({ title, text, onClose }: { title: string; text: string; onClose: () => void }) {
  const t = useWords(settingsWords);
  const common = useWords(commonWords);
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <p className="note">{t.shownOnce}</p>
      <p>
        <code className="secret">{text}</code>
      </p>
      <div className="row">
        <button type="button" className="main" onClick={() => void copy()}>
          {isCopied ? common.copied : common.copy}
        </button>
        <button type="button" onClick={onClose}>
          {common.close}
        </button>
      </div>
    </Dialog>
  );
}
