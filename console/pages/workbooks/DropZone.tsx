import { type ChangeEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { useWords } from '../../i18n/language.tsx';
import { useUploads } from './uploads.tsx';
import { workbooksWords } from './words.ts';

/** Files can be dropped anywhere on the page. */
export function DropZone({ workbookId, children }: { workbookId: string | null; children: ReactNode }) {
  const t = useWords(workbooksWords);
  const { add } = useUploads();
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent) => {
      setOver(false);
      // Whoever wanted the file for something else has taken it already.
      if (event.defaultPrevented || !hasFiles(event)) return;
      event.preventDefault();
      add([...(event.dataTransfer?.files ?? [])], workbookId);
    };
    addEventListener('dragover', over);
    addEventListener('dragleave', leave);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('dragleave', leave);
      removeEventListener('drop', drop);
    };
  }, [add, workbookId]);
  return (
    <>
      {children}
      {isOver && (
        <div className="drop" role="status">
          {t.drop}
        </div>
      )}
    </>
  );
}

/** The same for who has no mouse. */
export function UploadButton({ workbookId }: { workbookId: string | null }) {
  const t = useWords(workbooksWords);
  const { add } = useUploads();
  const input = useRef<HTMLInputElement>(null);
  const choose = (event: ChangeEvent<HTMLInputElement>) => {
    add([...(event.target.files ?? [])], workbookId);
    event.target.value = '';
  };
  return (
    <>
      <input ref={input} type="file" multiple hidden onChange={choose} aria-label={t.upload} />
      <button type="button" onClick={() => input.current?.click()}>
        {t.upload}
      </button>
    </>
  );
}
