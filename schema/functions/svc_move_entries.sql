-- Puts a file in the place of the log entries that it holds: those after `p_after` up to `p_up_to`. Returns false, and changes
-- nothing, when another process has moved them, or when their number is not that of the file: each entry must be in one place
-- only. The table's own row is not locked: edits go on meanwhile, and their entries come after.
CREATE OR REPLACE FUNCTION svc_move_entries(
  p_table text, p_key text, p_after bigint, p_up_to bigint, p_rows integer, p_min_row bigint, p_max_row bigint, p_bytes bigint
) RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
  moved bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(p_table, 11));
  IF (SELECT coalesce(max(up_to), 0) FROM log_files WHERE table_id = p_table AND kind = 'log') <> p_after THEN
    RETURN false;
  END IF;
  SELECT count(*) INTO moved FROM row_log WHERE table_id = p_table AND edit_version > p_after AND edit_version <= p_up_to;
  IF moved <> p_rows THEN
    RETURN false;
  END IF;
  INSERT INTO log_files (table_id, key, kind, after, up_to, rows, min_row, max_row, bytes)
  VALUES (p_table, p_key, 'log', p_after, p_up_to, p_rows, p_min_row, p_max_row, p_bytes);
  DELETE FROM row_log WHERE table_id = p_table AND edit_version > p_after AND edit_version <= p_up_to;
  RETURN true;
END;
$$;
