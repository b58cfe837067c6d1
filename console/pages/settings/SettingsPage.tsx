import { NoSuchPage } from '../../shell/NoSuchPage.tsx';

export default function SettingsPage({ section }: { section: string | undefined }) {
  return section === undefined ? <div className="page" /> : <NoSuchPage />;
}
