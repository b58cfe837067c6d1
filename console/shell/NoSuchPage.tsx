import { useWords } from '../i18n/language.tsx';
import { Empty } from '../parts/Empty.tsx';
import { Link } from './router.tsx';
import { shellWords } from './words.ts';

export function NoSuchPage() {
  const t = useWords(shellWords);
  return (
    <Empty title={t.noSuchPage}>
      <Link to="/workbooks">{t.toStart}</Link>
    </Empty>
  );
}
