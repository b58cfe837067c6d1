-- Moves a table to its next version if it still stands at `p_expected`, the version that the caller has read; otherwise fails with
-- SV001, so that statements sent right behind it, without waiting, are rolled back with it.
-- `p_entries` is an array of [row id, op, changed column ids, cells, before]; a row id of -n means the n-th new row, and new rows
-- are numbered here. `p_layers`, if given, is the new manifest, in which the text "$version" stands for the new version's number.
CREATE OR REPLACE FUNCTION svc_edit_table(
  p_table text, p_expected bigint, p_uid text, p_at timestamptz, p_inserted integer, p_deleted integer,
  p_entries json, p_manifest text, p_layers jsonb, p_schema_changed boolean
) RETURNS TABLE (edit_version bigint, first_row_id bigint, row_count bigint, tail_count integer)
LANGUAGE plpgsql
AS $$
DECLARE
  head tables%ROWTYPE;
  added integer := json_array_length(p_entries);
BEGIN
  UPDATE tables t SET
    edit_version = t.edit_version + 1,
    version_uid = p_uid,
    next_row_id = t.next_row_id + CASE WHEN added > 0 THEN p_inserted ELSE 0 END,
    row_count = t.row_count + p_inserted - p_deleted,
    tail_count = t.tail_count + added,
    tail_bytes = t.tail_bytes + CASE WHEN added > 0 THEN octet_length(p_entries::text) ELSE 0 END,
    file_bytes = coalesce(svc_count_bytes(p_layers), t.file_bytes),
    manifest_id = coalesce(p_manifest, t.manifest_id),
    schema_version = CASE WHEN p_schema_changed THEN t.edit_version + 1 ELSE t.schema_version END,
    updated_at = p_at
  WHERE t.id = p_table AND t.edit_version = p_expected AND t.deleted_at IS NULL AND t.state = 'active'
  RETURNING t.* INTO head;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the table % has moved on from version %', p_table, p_expected USING ERRCODE = 'SV001';
  END IF;

  IF p_layers IS NOT NULL THEN
    INSERT INTO manifests (id, table_id, layers, created_at)
    VALUES (p_manifest, p_table, replace(p_layers::text, '"$version"', head.edit_version::text)::jsonb, p_at);
  END IF;

  INSERT INTO table_versions (table_id, edit_version, uid, manifest_id, schema_version, row_count, created_at)
  VALUES (p_table, head.edit_version, p_uid, head.manifest_id, head.schema_version, head.row_count, p_at);

  IF added > 0 THEN
    INSERT INTO row_log (table_id, edit_version, row_id, op, changed, cells, before)
    SELECT p_table, head.edit_version,
           CASE WHEN (e->>0)::bigint < 0 THEN head.next_row_id - p_inserted - (e->>0)::bigint - 1 ELSE (e->>0)::bigint END,
           e->>1, ARRAY(SELECT json_array_elements_text(e->2)::integer),
           CASE WHEN json_typeof(e->3) = 'null' THEN NULL ELSE e->3 END, CASE WHEN json_typeof(e->4) = 'null' THEN NULL ELSE e->4 END
    FROM json_array_elements(p_entries) AS e;
  END IF;

  RETURN QUERY SELECT head.edit_version, head.next_row_id - CASE WHEN added > 0 THEN p_inserted ELSE 0 END, head.row_count, head.tail_count;
END;
$$;
