import type { EventType } from './events.ts';

/** An event as it is stored, with where it happened. */
export interface StoredEvent {
  id: string;
  type: EventType;
  actor: string;
  data: Record<string, unknown>;
  createdAt: Date;
  /** Null: it belongs to an account as a whole. */
  workbookId: string | null;
  workspaceId: string | null;
}

/** An event as receivers and readers see it. */
export function describeEvent(event: StoredEvent) {
  return {
    id: event.id,
    type: event.type,
    created_at: event.createdAt.toISOString(),
    workbook_id: event.workbookId,
    workspace_id: event.workspaceId,
    actor: event.actor,
    data: event.data,
  };
}
