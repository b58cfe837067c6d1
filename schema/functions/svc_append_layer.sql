-- Puts a layer on top of a table that an edit of the same transaction has moved to version `p_version`, over whatever layers
-- the table has now: a compaction may have replaced those that the edit was planned over, and must not be undone by it.
CREATE OR REPLACE FUNCTION svc_append_layer(p_table text, p_version bigint, p_to text, p_layer jsonb, p_at timestamptz) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
  below jsonb;
  log jsonb;
BEGIN
  SELECT m.layers - -1, m.layers -> -1 INTO STRICT below, log FROM tables t JOIN manifests m ON m.id = t.manifest_id WHERE t.id = p_table;
  -- The log that was open ends with the version before; where it holds nothing it goes.
  IF (log->>'after')::bigint < p_version - 1 THEN
    below := below || jsonb_build_array(jsonb_set(log, '{upTo}', to_jsonb(p_version - 1)));
  END IF;
  INSERT INTO manifests (id, table_id, layers, created_at)
  VALUES (p_to, p_table, below || jsonb_build_array(p_layer, jsonb_build_object('kind', 'log', 'after', p_version, 'upTo', NULL)), p_at);
  UPDATE tables SET manifest_id = p_to, file_bytes = file_bytes + (p_layer->>'bytes')::bigint WHERE id = p_table;
  UPDATE table_versions SET manifest_id = p_to WHERE table_id = p_table AND edit_version = p_version;
END;
$$;
