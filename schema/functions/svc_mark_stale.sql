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
  -- Null: all.
  ids integer[];
  keys text[];
  reached jsonb;
  fresh text[];
  grown jsonb;
BEGIN
  IF p_columns = '{}' THEN
    RETURN QUERY SELECT '{}'::text[], '[]'::jsonb;
    RETURN;
  END IF;
  p_at := date_trunc('milliseconds', p_at);
  WHILE cardinality(waiting) > 0 LOOP
    at_table := waiting[1];
    waiting := waiting[2:];
    ids := CASE WHEN changed->at_table = '"all"' THEN NULL ELSE ARRAY(SELECT jsonb_array_elements_text(changed->at_table)::integer) END;
    keys := ids::text[];
    -- In a statement of its own: the next one sees what runs have written that this one has waited for.
    PERFORM 1 FROM table_inputs i
    WHERE i.input_id = at_table AND i.kind = 'transform' AND (ids IS NULL OR i.flows IS NULL OR i.flows->'columns' ?| keys)
      -- What was marked for as much before needs nothing.
      AND NOT (i.stale_since IS NOT NULL AND (i.stale_columns IS NULL OR coalesce(i.stale_columns @> ids, false)))
    ORDER BY i.table_id FOR NO KEY UPDATE;
    CONTINUE WHEN NOT FOUND;
    WITH edges AS MATERIALIZED (
      SELECT i.table_id, CASE WHEN i.flows IS NULL THEN '"all"' ELSE (
        SELECT CASE WHEN bool_or(r.reach = '"all"') THEN '"all"'::jsonb
               ELSE coalesce((SELECT jsonb_agg(DISTINCT id.value) FROM jsonb_array_elements(jsonb_agg(r.reach)) AS one, jsonb_array_elements(one.value) AS id), '[]') END
        FROM (SELECT value AS reach FROM jsonb_each(i.flows->'columns') WHERE ids IS NULL OR key = ANY (keys)
              UNION ALL SELECT i.flows->'rows' WHERE ids IS NULL) AS r) END AS reach
      FROM table_inputs i
      WHERE i.input_id = at_table AND i.kind = 'transform' AND (ids IS NULL OR i.flows IS NULL OR i.flows->'columns' ?| keys)
        AND NOT (i.stale_since IS NOT NULL AND (i.stale_columns IS NULL OR coalesce(i.stale_columns @> ids, false)))
    ), marks AS (
      UPDATE table_inputs i SET
        stale_since = coalesce(i.stale_since, p_at),
        stale_columns = CASE WHEN ids IS NULL OR (i.stale_since IS NOT NULL AND i.stale_columns IS NULL) THEN NULL
          ELSE ARRAY(SELECT unnest(ids) UNION SELECT unnest(i.stale_columns)) END
      FROM edges e WHERE e.reach <> '[]' AND i.table_id = e.table_id AND i.input_id = at_table
    )
    SELECT jsonb_object_agg(e.table_id, e.reach),
      array_agg(e.table_id) FILTER (WHERE NOT EXISTS (
        SELECT 1 FROM table_inputs o WHERE o.table_id = e.table_id AND o.kind = 'transform' AND o.stale_since IS NOT NULL))
    INTO reached, fresh FROM edges e WHERE e.reach <> '[]';
    CONTINUE WHEN reached IS NULL;
    marked := marked || coalesce(fresh, '{}');
    -- Tables that others are made from, where more changed than is known so far.
    SELECT jsonb_object_agg(r.key, CASE WHEN r.value = '"all"' OR changed->r.key IS NULL THEN r.value
             ELSE (SELECT jsonb_agg(DISTINCT id.value) FROM jsonb_array_elements((changed->r.key) || r.value) AS id) END)
    INTO grown FROM jsonb_each(reached) AS r
    WHERE (changed->r.key IS NULL OR (changed->r.key <> '"all"' AND (r.value = '"all"' OR NOT changed->r.key @> r.value)))
      AND EXISTS (SELECT 1 FROM table_inputs o WHERE o.input_id = r.key AND o.kind = 'transform');
    CONTINUE WHEN grown IS NULL;
    changed := changed || grown;
    waiting := waiting || ARRAY(SELECT key FROM jsonb_object_keys(grown) AS key ORDER BY key);
  END LOOP;
  IF marked = '{}' THEN
    RETURN QUERY SELECT '{}'::text[], '[]'::jsonb;
    RETURN;
  END IF;
  RETURN QUERY
    SELECT coalesce(array_agg(t.name ORDER BY t.name), '{}'),
      coalesce(jsonb_agg(jsonb_build_object('id', p_event || upper(substr(replace(gen_random_uuid()::text, '-', ''), 1, 16)), 'type', 'artifact.stale',
        'data', jsonb_build_object('artifact_id', t.id, 'name', t.name, 'kind', CASE t.type WHEN 'report' THEN 'report' ELSE 'table' END, 'edit_version', t.edit_version,
          'stale_since', to_char(p_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
          'inputs', (SELECT jsonb_agg(n.name ORDER BY n.name) FROM table_inputs i JOIN tables n ON n.id = i.input_id
                     WHERE i.table_id = t.id AND i.kind = 'transform' AND i.stale_since IS NOT NULL))) ORDER BY t.name), '[]')
    FROM tables t WHERE t.id = ANY (marked) AND t.deleted_at IS NULL;
END;
$$;
