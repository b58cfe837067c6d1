-- The second wall between accounts. The service says for each request or activity whose rows it is about, in the setting
-- `svc.accounts`: ids of accounts between commas, or `*` for work that is about everybody. A statement sees and changes
-- only these rows, whatever its WHERE says. Where nothing was said, no row is seen.
CREATE FUNCTION svc_may_touch(account_id text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN current_setting('svc.accounts', true) = '*' OR account_id = ANY (string_to_array(current_setting('svc.accounts', true), ','));
--> statement-breakpoint
CREATE FUNCTION svc_may_touch_all() RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN current_setting('svc.accounts', true) = '*';
--> statement-breakpoint
-- FORCE: the service's role owns the tables, and owners are exempt otherwise. Every later table needs its call of this.
CREATE PROCEDURE svc_wall_off(p_table regclass, p_condition text)
LANGUAGE plpgsql
AS $$
BEGIN
  EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', p_table);
  EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', p_table);
  EXECUTE format('CREATE POLICY account_wall ON %s USING (%s)', p_table, p_condition);
END;
$$;
--> statement-breakpoint
-- Rows that name their account.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['workspaces', 'credentials', 'workbooks', 'jobs', 'tables', 'sources', 'structurings', 'uploads', 'results',
    'heads', 'usage_entries', 'request_counts', 'credit_movements', 'credit_entries']
  LOOP
    CALL svc_wall_off(name::regclass, 'svc_may_touch(account_id)');
  END LOOP;
  CALL svc_wall_off('accounts', 'svc_may_touch(id)');
  -- Before the first space stands the account; what was answered to somebody without one, such as a sign-up, is behind no wall.
  CALL svc_wall_off('idempotency', 'NOT starts_with(scope, ''acc_'') OR svc_may_touch(split_part(scope, '' '', 1))');
  CALL svc_wall_off('garbage_blobs', 'svc_may_touch(split_part(key, ''/'', 1))');
END;
$$;
--> statement-breakpoint
-- Rows that belong to another: they are seen where that one is, and its own policy says where that is. A sub-select and not
-- EXISTS, which the planner may turn into a hash of the whole other table.
DO $$
DECLARE
  child record;
BEGIN
  FOR child IN
    SELECT * FROM (VALUES
      ('members', 'workspaces', 'id', 'workspace_id'),
      ('manifests', 'tables', 'id', 'table_id'),
      ('table_versions', 'tables', 'id', 'table_id'),
      ('table_columns', 'tables', 'id', 'table_id'),
      ('row_log', 'tables', 'id', 'table_id'),
      ('log_files', 'tables', 'id', 'table_id'),
      ('annotations', 'tables', 'id', 'table_id'),
      ('landings', 'tables', 'id', 'table_id'),
      ('table_inputs', 'tables', 'id', 'table_id'),
      ('snapshots', 'workbooks', 'id', 'workbook_id'),
      ('snapshot_tables', 'snapshots', 'id', 'snapshot_id'),
      ('named_versions', 'workbooks', 'id', 'workbook_id'),
      ('job_drafts', 'jobs', 'id', 'job_id'),
      ('ops', 'heads', 'scope', 'scope'),
      ('audit_entries', 'heads', 'scope', 'scope'),
      ('outbox', 'heads', 'scope', 'scope'),
      ('audit_anchors', 'heads', 'scope', 'scope')
    ) AS c(name, parent, parent_key, own_key)
  LOOP
    CALL svc_wall_off(child.name::regclass, format(
      'svc_may_touch_all() OR (SELECT true FROM %I AS parent WHERE parent.%I = %I.%I)',
      child.parent, child.parent_key, child.name, child.own_key));
  END LOOP;
END;
$$;
