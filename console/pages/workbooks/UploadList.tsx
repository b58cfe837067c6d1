import { useWords } from '../../i18n/language.tsx';
import { ProblemNote } from '../../parts/ProblemNote.tsx';
import { addressOf, Link } from '../../shell/router.tsx';
import { type Upload, useUploads } from './uploads.tsx';
import { workbooksWords } from './words.ts';

/** The files that are being uploaded, with how far each is. */
export function UploadList({ isBrief = false }: { isBrief?: boolean }) {
  const t = useWords(workbooksWords);
  const { list: all, clear } = useUploads();
  // Beside other things, those that are done are in the way.
  const list = isBrief ? all.filter(({ state }) => state !== 'done' && state !== 'cancelled') : all;
  if (list.length === 0) return null;
  return (
    <section className="uploads" aria-label={t.uploading}>
      <div className="row">
        <h2>{t.uploading}</h2>
        <button type="button" className="plain" onClick={clear}>
          {t.dismiss}
        </button>
      </div>
      <ul className="plain-list">
        {list.map((upload) => (
          <UploadItem key={upload.id} upload={upload} />
        ))}
      </ul>
    </section>
  );
}

function UploadItem({ upload }: { upload: Upload }) {
  const t = useWords(workbooksWords);
  const { cancel } = useUploads();
  const { id, filename, state, progress, artifacts, workbookId, error } = upload;
  const isRunning = state === 'waiting' || state === 'sending' || state === 'working';
  const said = { waiting: t.waiting, sending: t.sending, working: t.working, done: t.done(artifacts.length), failed: t.failed };
  return (
    <li>
      <div className="row">
        <strong>{filename}</strong>
        <span role="status">{state === 'cancelled' ? t.cancelled : said[state]}</span>
        {isRunning && <progress aria-label={filename} {...(progress === null ? {} : { value: progress })} />}
        {isRunning && (
          <button type="button" onClick={() => cancel(id)}>
            {t.cancel}
          </button>
        )}
        {state === 'done' && workbookId !== null && (
          <Link to={addressOf('workbooks', workbookId, ...(artifacts[0] ? ['tables', artifacts[0]] : []))}>{t.open}</Link>
        )}
      </div>
      {state === 'failed' && <ProblemNote error={error} />}
    </li>
  );
}
