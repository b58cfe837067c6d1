-- Replaces the layers of manifest `p_from` by files that hold the content of version `p_version`. Whatever came since stays on top:
-- the log after that version, and layers that were appended. Returns false, and changes nothing, when anything else has changed, or
-- when the version is not the one that was read: after a crash a number may be given again to other content, a uid never.
CREATE OR REPLACE FUNCTION svc_fold_layers(
  p_table text, p_from text, p_to text, p_files jsonb, p_version bigint, p_uid text, p_at timestamptz
) RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
  head record;
  had jsonb;
  has jsonb;
  place integer;
  log jsonb;
  is_same_log boolean;
  above jsonb;
BEGIN
  SELECT manifest_id, schema_version INTO head FROM tables WHERE id = p_table FOR UPDATE;
  IF NOT FOUND OR NOT EXISTS (SELECT 1 FROM table_versions WHERE table_id = p_table AND edit_version = p_version AND uid = p_uid) THEN
    RETURN false;
  END IF;
  SELECT layers INTO had FROM manifests WHERE id = p_from;
  SELECT layers INTO has FROM manifests WHERE id = head.manifest_id;

  -- Up to the log that was open all must be as it was, and that log must not end before the version.
  place := jsonb_array_length(had) - 1;
  log := has->place;
  is_same_log := coalesce(log->>'kind' = 'log' AND log->'after' = had->place->'after', false);
  IF had IS NULL OR log IS NULL
    OR EXISTS (SELECT 1 FROM generate_series(0, place - 1) AS i WHERE has->i <> had->i)
    OR (is_same_log AND (log->>'upTo')::bigint < p_version)
    -- It is not there any more because it was empty at the version that the next layer was put on.
    OR (NOT is_same_log AND (had->place->>'after')::bigint <> p_version)
    -- The files hold the columns of their version. Under other layers these may be others than those that were read.
    OR (head.manifest_id <> p_from AND head.schema_version > p_version)
  THEN
    RETURN false;
  END IF;

  SELECT coalesce(jsonb_agg(has->i ORDER BY i), '[]') INTO above
  FROM generate_series(place + is_same_log::integer, jsonb_array_length(has) - 1) AS i;
  IF is_same_log AND coalesce((log->>'upTo')::bigint > p_version, true) THEN
    above := jsonb_build_array(jsonb_set(log, '{after}', to_jsonb(p_version))) || above;
  END IF;
  INSERT INTO manifests (id, table_id, layers, created_at) VALUES (p_to, p_table, p_files || above, p_at);
  UPDATE tables SET manifest_id = p_to, file_bytes = svc_count_bytes(p_files || above), tail_count = tail.entries, tail_bytes = tail.bytes
  FROM svc_count_tail(p_table, above) AS tail WHERE id = p_table;
  -- Versions in between keep the layers that they have.
  UPDATE table_versions SET manifest_id = p_to
  WHERE table_id = p_table AND edit_version >= p_version AND manifest_id = head.manifest_id;
  RETURN true;
END;
$$;
