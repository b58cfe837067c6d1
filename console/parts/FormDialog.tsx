import { type FormEvent, type ReactNode, useState } from 'react';
import { useWords } from '../i18n/language.tsx';
import { Dialog } from './Dialog.tsx';
import { ProblemNote } from './ProblemNote.tsx';
import { commonWords } from './words.ts';

interface FormDialogProps {
  title: string;
  /** What the button says; the title, if it is not given. */
  label?: string;
  children: ReactNode;
  onSubmit: (fields: FormData) => Promise<void>;
  onClose: () => void;
}

/** A form that is closed when what it asks for is done. A refusal is shown in it, and nothing that was entered is lost. */
export function FormDialog({ title, label = title, children, onSubmit, onClose }: FormDialogProps) {
  const common = useWords(commonWords);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await onSubmit(new FormData(event.currentTarget));
      onClose();
    } catch (caught) {
      setError(caught);
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="fields" onSubmit={(event) => void submit(event)}>
        {children}
        {error !== null && <ProblemNote error={error} />}
        <div className="row">
          <button type="submit" className="main" disabled={isBusy}>
            {label}
          </button>
          <button type="button" onClick={onClose}>
            {common.cancel}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export const readField = (fields: FormData, name: string): string => String(fields.get(name) ?? '').trim();

/** Names with commas between, also the Japanese one. */
export const splitNames = (text: string): string[] =>
  text
    .split(/[,、]/)
    .map((each) => each.trim())
    .filter(Boolean);
