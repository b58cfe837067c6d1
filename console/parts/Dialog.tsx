import { type ReactNode, useEffect, useRef } from 'react';

interface DialogProps {
  title: string;
  children: ReactNode;
  onClose: () => void;
  wide?: boolean;
}

/** The browser's own dialog: it keeps the keyboard inside, and Escape closes it. */
export function Dialog({ title, children, onClose, wide }: DialogProps) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const shown = box.current;
    const before = document.activeElement;
    shown?.showModal();
    return () => {
      shown?.close();
      // What opened it may be gone, as a button that was needed once.
      const after = before?.isConnected && before !== document.body ? before : document.getElementById('content');
      if (after instanceof HTMLElement) after.focus();
    };
  }, []);
  return (
    <dialog
      ref={box}
      className={wide ? 'wide' : ''}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <h2>{title}</h2>
      {children}
    </dialog>
  );
}
