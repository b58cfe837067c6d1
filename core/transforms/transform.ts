/** What somebody wants derived, with tables by id. */
export interface TransformDefinition {
  name: string;
  language: 'sql' | 'python';
  template: string;
  args: Record<string, string>;
  output: string;
  key: string[] | null;
  materialize: 'table' | 'view';
}

/** Whether a derived table agrees with its inputs. */
export interface Freshness {
  /** Null while it does. */
  staleSince: Date | null;
  /** Names of the inputs that moved on since the last run. */
  moved: string[];
}

export const fresh: Freshness = { staleSince: null, moved: [] };
