import type { Hit } from '../../activities/discovery/searchArtifacts.ts';
import type { components } from '../../schema/contract.ts';

export function presentHit({ found, match }: Hit): components['schemas']['SearchHit'] {
  const { name, workbookId, workbookTitle } = found;
  const kind =
    'columns' in found
      ? { type: found.type, description: found.description, source: found.source }
      : { type: found.kind, description: found.title, source: null };
  return { name, workbook_id: workbookId, workbook_title: workbookTitle, ...kind, ...match };
}
