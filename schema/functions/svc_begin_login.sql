-- Notes a log-in attempt and returns 'go', unless `p_limit` attempts of the last minute failed for one of the subjects ('no').
-- Attempts that are still being checked may fail: when they could reach the limit, the next one has to wait ('wait'). So parallel
-- guesses are counted, and parallel correct log-ins are not held against anyone. An attempt whose process died counts for ten seconds.
CREATE OR REPLACE FUNCTION svc_begin_login(p_subjects text[], p_attempt text, p_limit integer) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
  failures bigint;
  open_ones bigint;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(s, 7)) FROM (SELECT unnest(p_subjects) AS s ORDER BY 1);
  SELECT coalesce(max(f), 0), coalesce(max(f + o), 0) INTO failures, open_ones FROM (
    SELECT count(*) FILTER (WHERE failed) AS f, count(*) FILTER (WHERE NOT failed AND at > clock_timestamp() - interval '10 seconds') AS o
    FROM login_attempts WHERE subject = ANY (p_subjects) AND at > clock_timestamp() - interval '1 minute' GROUP BY subject
  ) AS counts;
  IF failures >= p_limit THEN
    RETURN 'no';
  END IF;
  IF open_ones >= p_limit THEN
    RETURN 'wait';
  END IF;
  INSERT INTO login_attempts (subject, attempt, at) SELECT unnest(p_subjects), p_attempt, clock_timestamp();
  RETURN 'go';
END;
$$;
