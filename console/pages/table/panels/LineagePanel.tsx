import { useQuery } from '@tanstack/react-query';
import { api, ask, type Schemas, send, toProblem } from '../../../api/client.ts';
import { useWords } from '../../../i18n/language.tsx';
import { Answer } from '../../../parts/Answer.tsx';
import { addressOf, Link } from '../../../shell/router.tsx';
import { inWorkbook } from '../../workbook/asks.ts';
import { panelWords } from './words.ts';

type Node = Schemas['LineageNode'];

/** What the table is made from and what is made from it: a picture, and the same as links. */
export function LineagePanel({ workbookId, name }: { workbookId: string; name: string }) {
  const t = useWords(panelWords);
  const lineage = useQuery({
    queryKey: inWorkbook(workbookId, 'lineage', name),
    queryFn: async () =>
      (await ask(
        api.GET('/api/v1/workbooks/{workbook_id}/tables/{name}/lineage', { params: { path: { workbook_id: workbookId, name } } }),
      )) as Schemas['TableLineage'],
  });
  const picture = useQuery({
    queryKey: inWorkbook(workbookId, 'lineage-picture', name),
    queryFn: () => readPicture(`/api/v1${addressOf('workbooks', workbookId, 'tables', name)}/lineage?format=svg`),
  });
  return (
    <>
      {picture.data && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: wide pictures are scrolled, also by the keyboard
        <section className="lineage" tabIndex={0} aria-label={t.picture(name)}>
          <img src={picture.data} alt={t.picture(name)} />
        </section>
      )}
      <Answer of={lineage}>
        {({ nodes, edges }) => {
          const self = nodes.find((node) => node.name === name && (node.kind === 'table' || node.kind === 'view'));
          const { above, below } = splitAround(self?.id ?? '', nodes, edges);
          return (
            <>
              <NodeList title={t.reads} nodes={above} workbookId={workbookId} />
              <NodeList title={t.feeds} nodes={below} workbookId={workbookId} />
            </>
          );
        }}
      </Answer>
    </>
  );
}

function NodeList({ title, nodes, workbookId }: { title: string; nodes: Node[]; workbookId: string }) {
  const t = useWords(panelWords);
  if (nodes.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul className="plain-list">
        {nodes.map(({ id, kind, name, sheet, range, stale }) => (
          <li key={id}>
            <span className="mark">{t.nodes[kind] ?? kind}</span>{' '}
            {kind === 'table' || kind === 'view' || kind === 'source' ? (
              <Link to={addressOf('workbooks', workbookId, kind === 'source' ? 'sources' : 'tables', name)}>{name}</Link>
            ) : (
              name
            )}{' '}
            <small className="dim">{[sheet, range].filter((each) => each && each !== name).join(' ')}</small>{' '}
            {stale && <span className="stale">●</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** All that leads to a node, and all that it leads to. */
function splitAround(self: string, nodes: Node[], edges: Schemas['LineageEdge'][]): { above: Node[]; below: Node[] } {
  const reach = (from: 'from' | 'to', to: 'from' | 'to') => {
    const found = new Set<string>([self]);
    for (const id of found) for (const edge of edges) if (edge[from] === id) found.add(edge[to]);
    found.delete(self);
    return nodes.filter(({ id }) => found.has(id));
  };
  return { above: reach('to', 'from'), below: reach('from', 'to') };
}

/** The picture as an address that the page's policy allows. */
async function readPicture(path: string): Promise<string> {
  const response = await send(path);
  if (!response.ok) throw toProblem(await response.json(), response);
  return `data:image/svg+xml,${encodeURIComponent(await response.text())}`;
}
