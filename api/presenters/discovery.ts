import type { Hit } from '../../activities/discovery/searchTables.ts';
import type { components } from '../../schema/contract.ts';

export function presentHit({ table, match }: Hit): components['schemas']['SearchHit'] {
  return {
    name: table.name,
    type: table.type,
    workbook_id: table.workbookId,
    workbook_title: table.workbookTitle,
    description: table.description,
    source: table.source,
    ...match,
  };
}
