-- Gives a table, locked and checked by the caller, a next version whose content is that of an older one. `p_layers` is that
-- version's manifest, closed, with an open log on top, in which the text "$version" stands for the new number. `p_columns` are the
-- columns as they were: those that differ end here, those that come back get a new row under their old id. Row ids and column ids
-- go on counting from where they are.
-- Nested loops are off: the planner takes the list of columns for a short one, and would go through all of it for each column.
CREATE OR REPLACE FUNCTION svc_restore_table(
  p_table text, p_uid text, p_at timestamptz, p_manifest text, p_layers jsonb, p_row_count bigint, p_tail integer,
  p_columns jsonb
) RETURNS bigint
LANGUAGE plpgsql
SET enable_nestloop = off
AS $$
DECLARE
  new_version bigint;
  owner text;
  ended integer;
  begun integer;
BEGIN
  SELECT edit_version + 1, account_id INTO STRICT new_version, owner FROM tables WHERE id = p_table FOR UPDATE;

  UPDATE table_columns c SET to_version = new_version
  WHERE c.table_id = p_table AND c.to_version IS NULL AND NOT EXISTS (
    SELECT 1 FROM jsonb_to_recordset(p_columns) AS w(column_id integer, name text, type text, default_text text, position integer)
    WHERE w.column_id = c.column_id AND w.name = c.name AND w.type = c.type AND w.position = c.position
      AND w.default_text IS NOT DISTINCT FROM c.default_text
  );
  GET DIAGNOSTICS ended = ROW_COUNT;
  INSERT INTO table_columns (table_id, account_id, column_id, from_version, name, type, default_text, position, description)
  SELECT p_table, owner, w.column_id, new_version, w.name, w.type, w.default_text, w.position, w.description
  FROM jsonb_to_recordset(p_columns) AS w(column_id integer, name text, type text, default_text text, position integer, description text)
  WHERE NOT EXISTS (SELECT 1 FROM table_columns c WHERE c.table_id = p_table AND c.column_id = w.column_id AND c.to_version IS NULL);
  GET DIAGNOSTICS begun = ROW_COUNT;

  INSERT INTO manifests (id, table_id, layers, created_at)
  VALUES (p_manifest, p_table, replace(p_layers::text, '"$version"', new_version::text)::jsonb, p_at);
  UPDATE tables SET
    edit_version = new_version,
    version_uid = p_uid,
    manifest_id = p_manifest,
    row_count = p_row_count,
    tail_count = p_tail,
    tail_bytes = CASE WHEN p_tail > 0 THEN (SELECT bytes FROM svc_count_tail(p_table, (SELECT layers FROM manifests WHERE id = p_manifest))) ELSE 0 END,
    file_bytes = svc_count_bytes(p_layers),
    schema_version = CASE WHEN ended + begun > 0 THEN new_version ELSE schema_version END,
    updated_at = p_at
  WHERE id = p_table;
  INSERT INTO table_versions (table_id, edit_version, uid, manifest_id, schema_version, row_count, created_at)
  SELECT id, new_version, p_uid, p_manifest, schema_version, p_row_count, p_at FROM tables WHERE id = p_table;
  RETURN new_version;
END;
$$;
