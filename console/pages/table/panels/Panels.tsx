import type { Schemas } from '../../../api/client.ts';
import { useWords } from '../../../i18n/language.tsx';
import { usePlace } from '../../../shell/router.tsx';
import type { ChosenCell, RowStore } from '../rowStore.ts';
import type { Editing } from '../useEditing.ts';
import { tableWords } from '../words.ts';
import { CellPanel } from './CellPanel.tsx';
import { ChangesPanel } from './ChangesPanel.tsx';
import { LineagePanel } from './LineagePanel.tsx';
import { ProfilePanel } from './ProfilePanel.tsx';
import { VersionsPanel } from './VersionsPanel.tsx';
import { panelWords } from './words.ts';

interface PanelsProps {
  workbookId: string;
  table: Schemas['Table'];
  chosen: ChosenCell | null;
  store: RowStore;
  editing: Editing;
}

const names = ['cell', 'profile', 'versions', 'lineage', 'changes'] as const;

/** What is known of the table beside its rows. The one that is open is in the address. */
export function Panels({ workbookId, table, chosen, store, editing }: PanelsProps) {
  const t = useWords(tableWords);
  const p = useWords(panelWords);
  const { query, setQuery } = usePlace();
  const open = query.get('panel');
  return (
    <aside className={open ? 'panels open' : 'panels'} aria-label={p.picture(table.name)}>
      <div role="tablist" className="row tight" aria-label={table.name}>
        {names.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={open === name}
            aria-controls="panel"
            onClick={() => setQuery({ panel: open === name ? null : name })}
          >
            {t.panels[name]}
          </button>
        ))}
      </div>
      <div id="panel" role="tabpanel" aria-labelledby={open ? `tab-${open}` : undefined} hidden={!open}>
        {open === 'cell' && <CellPanel workbookId={workbookId} table={table} chosen={chosen} />}
        {open === 'profile' && <ProfilePanel workbookId={workbookId} table={table} />}
        {open === 'versions' && <VersionsPanel workbookId={workbookId} table={table} editing={editing} />}
        {open === 'lineage' && <LineagePanel workbookId={workbookId} name={table.name} />}
        {open === 'changes' && <ChangesPanel workbookId={workbookId} name={table.name} version={store.version} editing={editing} />}
      </div>
    </aside>
  );
}
