-- Lets the next jobs of a user begin, oldest first, so that at most `p_most` of them are under way. Returns those to be started now.
-- The lock makes those who ask at the same time count one after the other.
CREATE OR REPLACE FUNCTION svc_admit_jobs(p_user text, p_most integer) RETURNS SETOF text
LANGUAGE plpgsql
AS $$
BEGIN
  -- If it is lost, the sweep does it again.
  PERFORM set_config('synchronous_commit', 'off', true);
  PERFORM pg_advisory_xact_lock(hashtextextended('svc_admit_jobs ' || p_user, 0));
  RETURN QUERY
    WITH next AS MATERIALIZED (
      SELECT id FROM jobs
      WHERE user_id = p_user AND admitted_at IS NULL AND finished_at IS NULL
      ORDER BY created_at, id
      LIMIT greatest(0, p_most - (
        SELECT count(*) FROM jobs WHERE user_id = p_user AND admitted_at IS NOT NULL AND finished_at IS NULL
      ))
      FOR UPDATE
    )
    UPDATE jobs SET admitted_at = now() FROM next WHERE jobs.id = next.id
    RETURNING jobs.id;
END;
$$;
