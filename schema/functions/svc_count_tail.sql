-- How many entries the logs among the layers of a manifest hold, and what they take in the database.
CREATE OR REPLACE FUNCTION svc_count_tail(p_table text, p_layers jsonb) RETURNS TABLE (entries integer, bytes bigint)
LANGUAGE sql STABLE
AS $$
  SELECT count(*)::integer, coalesce(sum(coalesce(pg_column_size(r.cells), 0) + coalesce(pg_column_size(r.before), 0)), 0)::bigint
  FROM jsonb_array_elements(p_layers) AS part(l) JOIN row_log r ON r.table_id = p_table
    AND r.edit_version > (l->>'after')::bigint AND r.edit_version <= coalesce((l->>'upTo')::bigint, r.edit_version)
  WHERE l->>'kind' = 'log';
$$;
