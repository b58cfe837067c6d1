-- Marks what is made from a table as stale after a change of it: directly, and through tables that are made from those. Called in
-- the transaction of the change, which holds the lock of the table's row: a run that reads the table waits for it.
-- `p_columns`: ids of the columns whose values changed; null: rows came or went, or anything may have changed. What flows from a
-- column to which columns of an output is in `table_inputs.flows`, as `core/lineage/staleness.ts` has it.
-- Returns the names of the tables that were fresh before, and the events to publish; ids of events begin like `p_event`.
CREATE OR REPLACE FUNCTION svc_mark_stale(p_table text, p_columns integer[], p_at timestamptz, p_event text)
RETURNS TABLE (stale text[], stale_events jsonb)
LANGUAGE plpgsql
AS $$
DECLARE
  waiting text[] := ARRAY[p_table];
  -- For each table, what changed in it: "all", or ids of columns.
  changed jsonb := jsonb_build_object(p_table, CASE WHEN p_columns IS NULL THEN '"all"'::jsonb ELSE to_jsonb(p_columns) END);
  marked text[] := '{}';
  at_table text;
  what jsonb;
  edge record;
  reached jsonb;
BEGIN
  IF p_columns = '{}' OR NOT EXISTS (SELECT 1 FROM table_inputs i WHERE i.input_id = p_table AND i.kind = 'transform') THEN
    RETURN QUERY SELECT '{}'::text[], '[]'::jsonb;
    RETURN;
  END IF;
  p_at := date_trunc('milliseconds', p_at);
  WHILE cardinality(waiting) > 0 LOOP
    at_table := waiting[1];
    waiting := waiting[2:];
    what := changed->at_table;
    FOR edge IN
      SELECT i.table_id, i.flows, i.stale_since, i.stale_columns FROM table_inputs i
      WHERE i.input_id = at_table AND i.kind = 'transform'
        -- What was marked for as much before needs nothing.
        AND NOT (i.stale_since IS NOT NULL AND (i.stale_columns IS NULL
          OR (what <> '"all"' AND i.stale_columns @> ARRAY(SELECT jsonb_array_elements_text(what)::integer))))
    LOOP
      IF edge.flows IS NULL THEN
        reached := '"all"';
      ELSE
        SELECT CASE WHEN bool_or(r.reach = '"all"') THEN '"all"'::jsonb
               ELSE coalesce((SELECT jsonb_agg(DISTINCT id.value) FROM jsonb_array_elements(jsonb_agg(r.reach)) AS one, jsonb_array_elements(one.value) AS id), '[]') END
        INTO reached
        FROM (SELECT value AS reach FROM jsonb_each(edge.flows->'columns') WHERE what = '"all"' OR what @> to_jsonb(key::integer)
              UNION ALL SELECT edge.flows->'rows' WHERE what = '"all"') AS r;
      END IF;
      CONTINUE WHEN reached IS NULL OR reached = '[]';
      IF NOT EXISTS (SELECT 1 FROM table_inputs o WHERE o.table_id = edge.table_id AND o.kind = 'transform' AND o.stale_since IS NOT NULL) THEN
        marked := marked || edge.table_id;
      END IF;
      UPDATE table_inputs i SET
        stale_since = coalesce(i.stale_since, p_at),
        stale_columns = CASE
          WHEN what = '"all"' OR (i.stale_since IS NOT NULL AND i.stale_columns IS NULL) THEN NULL
          ELSE ARRAY(SELECT jsonb_array_elements_text(what)::integer UNION SELECT unnest(i.stale_columns)) END
      WHERE i.table_id = edge.table_id AND i.input_id = at_table;
      what := changed->at_table;
      IF changed->edge.table_id IS NULL OR (changed->edge.table_id <> '"all"' AND (reached = '"all"' OR NOT changed->edge.table_id @> reached)) THEN
        changed := changed || jsonb_build_object(edge.table_id, CASE
          WHEN reached = '"all"' OR changed->edge.table_id IS NULL THEN reached
          ELSE (SELECT jsonb_agg(DISTINCT id.value) FROM jsonb_array_elements((changed->edge.table_id) || reached) AS id) END);
        waiting := waiting || edge.table_id;
      END IF;
    END LOOP;
  END LOOP;
  RETURN QUERY
    SELECT coalesce(array_agg(t.name ORDER BY t.name), '{}'),
      coalesce(jsonb_agg(jsonb_build_object('id', p_event || upper(substr(replace(gen_random_uuid()::text, '-', ''), 1, 16)), 'type', 'artifact.stale',
        'data', jsonb_build_object('artifact_id', t.id, 'name', t.name, 'kind', 'table', 'edit_version', t.edit_version,
          'stale_since', to_char(p_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
          'inputs', (SELECT jsonb_agg(n.name ORDER BY n.name) FROM table_inputs i JOIN tables n ON n.id = i.input_id
                     WHERE i.table_id = t.id AND i.kind = 'transform' AND i.stale_since IS NOT NULL))) ORDER BY t.name), '[]')
    FROM tables t WHERE t.id = ANY (marked) AND t.deleted_at IS NULL;
END;
$$;
