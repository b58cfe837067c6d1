import type { DescribedSheet, ShownBlock } from '../../activities/sheets/describeSheets.ts';
import type { components } from '../../schema/contract.ts';

type Schemas = components['schemas'];

export function presentSheetSummary({ sheet, tables }: DescribedSheet): Schemas['SheetSummary'] {
  return { name: sheet.name, title: sheet.title ?? sheet.name, tables, updated_at: sheet.updatedAt.toISOString() };
}

export function presentSheet({ sheet, tables, missing, blocks }: DescribedSheet & { blocks: ShownBlock[] }): Schemas['Sheet'] {
  return {
    name: sheet.name,
    title: sheet.title ?? sheet.name,
    spec: { blocks: blocks.map(presentBlock) },
    tables,
    missing_tables: missing,
    created_at: sheet.createdAt.toISOString(),
    updated_at: sheet.updatedAt.toISOString(),
  };
}

function presentBlock(block: ShownBlock): Schemas['SheetBlock'] {
  if (block.kind !== 'table_view') return block;
  const { kind, table, columns, limit, title } = block;
  return {
    kind,
    table,
    ...(columns === null ? {} : { columns }),
    ...(limit === null ? {} : { limit }),
    ...(title === null ? {} : { title }),
  };
}
