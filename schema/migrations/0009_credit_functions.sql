-- A month in UTC as a number that sorts: 202611.
CREATE FUNCTION svc_credit_month(p_at timestamptz) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (extract(year FROM p_at AT TIME ZONE 'UTC') * 100 + extract(month FROM p_at AT TIME ZONE 'UTC'))::integer;
--> statement-breakpoint
CREATE FUNCTION svc_credit_month_name(p_month integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (p_month / 100)::text || '-' || lpad((p_month % 100)::text, 2, '0');
--> statement-breakpoint
-- The number and the balance of an entry are not its writer's to say. Should two writers have read the same balance, the
-- unique number stops the second; should a bucket run empty, the check on the balance stops the entry.
CREATE FUNCTION svc_number_credit_entry() RETURNS trigger
LANGUAGE plpgsql
AS $$
DECLARE
  newest record;
BEGIN
  SELECT seq, balance INTO newest FROM credit_entries
  WHERE account_id = NEW.account_id AND bucket = NEW.bucket AND source = NEW.source AND ends = NEW.ends
  ORDER BY seq DESC LIMIT 1;
  NEW.seq := coalesce(newest.seq, 0) + 1;
  NEW.balance := coalesce(newest.balance, 0) + NEW.amount;
  RETURN NEW;
END;
$$;
--> statement-breakpoint
CREATE TRIGGER credit_entries_number BEFORE INSERT ON credit_entries
FOR EACH ROW EXECUTE FUNCTION svc_number_credit_entry();
--> statement-breakpoint
-- At the end of the transaction, for every movement that it wrote or added to.
CREATE FUNCTION svc_check_credit_movement() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM credit_entries WHERE account_id = NEW.account_id AND key = NEW.key)
    OR EXISTS (
      SELECT 1 FROM credit_entries WHERE account_id = NEW.account_id AND key = NEW.key GROUP BY source, ends HAVING sum(amount) <> 0
    )
  THEN
    RAISE EXCEPTION 'credit movement % of % does not sum to zero', NEW.key, NEW.account_id
      USING ERRCODE = 'check_violation', CONSTRAINT = TG_NAME;
  END IF;
  RETURN NULL;
END;
$$;
--> statement-breakpoint
CREATE CONSTRAINT TRIGGER credit_movements_balanced AFTER INSERT ON credit_movements
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION svc_check_credit_movement();
--> statement-breakpoint
CREATE CONSTRAINT TRIGGER credit_entries_balanced AFTER INSERT ON credit_entries
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION svc_check_credit_movement();
--> statement-breakpoint
CREATE FUNCTION svc_refuse_credit_change() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
  RAISE EXCEPTION 'the credit books are only added to' USING ERRCODE = 'restrict_violation';
END;
$$;
--> statement-breakpoint
CREATE TRIGGER credit_entries_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON credit_entries
FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_credit_change();
--> statement-breakpoint
CREATE TRIGGER credit_movements_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON credit_movements
FOR EACH STATEMENT EXECUTE FUNCTION svc_refuse_credit_change();
--> statement-breakpoint
-- One account's credits move one after the other.
CREATE FUNCTION svc_lock_credits(p_account text) RETURNS void
LANGUAGE sql
AS $$ SELECT pg_advisory_xact_lock(hashtextextended('credits ' || p_account, 0)); $$;
--> statement-breakpoint
CREATE FUNCTION svc_credit_balance(p_account text, p_source text, p_ends integer, p_bucket text) RETURNS integer
LANGUAGE sql STABLE
RETURN coalesce((
  SELECT balance FROM credit_entries
  WHERE account_id = p_account AND bucket = p_bucket AND source = p_source AND ends = p_ends
  ORDER BY seq DESC LIMIT 1
), 0);
--> statement-breakpoint
-- In the order in which they are spent.
CREATE FUNCTION svc_credit_lots(p_account text) RETURNS TABLE (source text, ends integer, available integer)
LANGUAGE sql STABLE
AS $$
  SELECT lot.source, lot.ends, svc_credit_balance(p_account, lot.source, lot.ends, 'available')
  FROM (SELECT DISTINCT e.source, e.ends FROM credit_entries e WHERE e.account_id = p_account AND e.bucket = 'issued') AS lot
  ORDER BY lot.source, lot.ends;
$$;
--> statement-breakpoint
-- The month that the books are in: the clock's, unless a later one has begun in them already. So a transaction that began
-- before midnight and got its turn after it cannot go back.
CREATE FUNCTION svc_credit_month_of(p_account text, p_at timestamptz) RETURNS integer
LANGUAGE sql STABLE
RETURN greatest(svc_credit_month(p_at), (
  SELECT ends FROM credit_entries
  WHERE account_id = p_account AND bucket = 'issued' AND source = 'included'
  ORDER BY ends DESC LIMIT 1
));
--> statement-breakpoint
CREATE FUNCTION svc_shift_credits(
  p_account text, p_key text, p_at timestamptz, p_source text, p_ends integer, p_from text, p_to text, p_amount integer
) RETURNS void
LANGUAGE sql
AS $$
  INSERT INTO credit_entries (account_id, key, source, ends, bucket, amount, at)
  VALUES (p_account, p_key, p_source, p_ends, p_from, -p_amount, p_at), (p_account, p_key, p_source, p_ends, p_to, p_amount, p_at);
$$;
--> statement-breakpoint
-- Brings the books to the month: what is left of lots that have ended expires, and the plan's credits come. `p_plans` gives
-- the credits of each plan. Called with the account's lock held; returns the month.
CREATE FUNCTION svc_turn_credits(p_account text, p_plans jsonb, p_at timestamptz) RETURNS integer
LANGUAGE plpgsql
AS $$
DECLARE
  month integer := svc_credit_month_of(p_account, p_at);
  month_key text := 'grant:' || svc_credit_month_name(month);
  included integer;
  move_key text;
  lot record;
BEGIN
  IF EXISTS (SELECT 1 FROM credit_movements WHERE account_id = p_account AND key = month_key) THEN
    RETURN month;
  END IF;
  SELECT (p_plans->>plan)::integer INTO included FROM accounts WHERE id = p_account;
  IF included IS NULL THEN
    RAISE EXCEPTION 'no account % with a plan of the price list', p_account USING ERRCODE = 'no_data_found';
  END IF;

  FOR lot IN SELECT * FROM svc_credit_lots(p_account) WHERE ends < month AND available > 0 LOOP
    move_key := 'expire:' || lot.source || ':' || svc_credit_month_name(lot.ends);
    INSERT INTO credit_movements (account_id, key, kind, at) VALUES (p_account, move_key, 'expire', p_at);
    PERFORM svc_shift_credits(p_account, move_key, p_at, lot.source, lot.ends, 'available', 'expired', lot.available);
  END LOOP;

  INSERT INTO credit_movements (account_id, key, kind, at) VALUES (p_account, month_key, 'grant', p_at);
  PERFORM svc_shift_credits(p_account, month_key, p_at, 'included', month, 'issued', 'available', included);
  RETURN month;
END;
$$;
--> statement-breakpoint
-- The accounts, of those after one, that the month is new to.
CREATE FUNCTION svc_credits_due(p_after text, p_limit integer, p_at timestamptz) RETURNS TABLE (id text)
LANGUAGE sql STABLE
AS $$
  SELECT a.id FROM accounts a
  WHERE a.id > p_after AND a.deleted_at IS NULL AND NOT EXISTS (
    SELECT 1 FROM credit_entries e
    WHERE e.account_id = a.id AND e.bucket = 'issued' AND e.source = 'included' AND e.ends >= svc_credit_month(p_at)
  )
  ORDER BY a.id LIMIT p_limit;
$$;
--> statement-breakpoint
-- In the order of the ids, so that two runs cannot wait for each other.
CREATE FUNCTION svc_grant_credits(p_accounts text[], p_plans jsonb, p_at timestamptz) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
  account text;
BEGIN
  FOR account IN SELECT a FROM unnest(p_accounts) AS a ORDER BY a COLLATE "C" LOOP
    PERFORM svc_lock_credits(account);
    PERFORM svc_turn_credits(account, p_plans, p_at);
  END LOOP;
END;
$$;
--> statement-breakpoint
-- False: this purchase is in the books already.
CREATE FUNCTION svc_buy_credits(p_account text, p_ref text, p_amount integer, p_ends integer, p_at timestamptz) RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
  move_key text := 'purchase:' || p_ref;
BEGIN
  PERFORM svc_lock_credits(p_account);
  INSERT INTO credit_movements (account_id, key, kind, ref, at) VALUES (p_account, move_key, 'purchase', p_ref, p_at)
  ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  PERFORM svc_shift_credits(p_account, move_key, p_at, 'purchased', p_ends, 'issued', 'available', p_amount);
  RETURN true;
END;
$$;
--> statement-breakpoint
-- Holds credits for a job: 'reserved', also when it was done before; 'no_credits'; 'released' when they were given back.
CREATE FUNCTION svc_reserve_credits(
  p_account text, p_workbook text, p_job text, p_amount integer, p_plans jsonb, p_at timestamptz
) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
  move_key text := 'reserve:' || p_job;
  month integer;
  missing integer := p_amount;
  taken integer;
  lot record;
BEGIN
  PERFORM svc_lock_credits(p_account);
  IF EXISTS (SELECT 1 FROM credit_movements WHERE account_id = p_account AND key = move_key) THEN
    RETURN CASE
      WHEN EXISTS (SELECT 1 FROM credit_movements WHERE account_id = p_account AND key = 'close:' || p_job AND kind = 'release')
      THEN 'released' ELSE 'reserved'
    END;
  END IF;

  month := svc_turn_credits(p_account, p_plans, p_at);
  IF (SELECT coalesce(sum(available), 0) FROM svc_credit_lots(p_account) WHERE ends >= month) < p_amount THEN
    RETURN 'no_credits';
  END IF;
  INSERT INTO credit_movements (account_id, key, kind, ref, workbook_id, at)
  VALUES (p_account, move_key, 'reserve', p_job, p_workbook, p_at);
  FOR lot IN SELECT * FROM svc_credit_lots(p_account) WHERE ends >= month AND available > 0 LOOP
    EXIT WHEN missing = 0;
    taken := least(missing, lot.available);
    PERFORM svc_shift_credits(p_account, move_key, p_at, lot.source, lot.ends, 'available', 'reserved', taken);
    missing := missing - taken;
  END LOOP;
  RETURN 'reserved';
END;
$$;
--> statement-breakpoint
-- Ends a reservation, once: 'settle' spends it, 'release' gives it back to where it came from, and lets expire what comes
-- from a lot that has ended meanwhile. Both have the same key, so that one job cannot have both. `was` says how it had
-- ended before, and is null when it was ended here; no row comes back when the job has reserved nothing.
CREATE FUNCTION svc_close_credits(p_account text, p_job text, p_kind text, p_at timestamptz)
RETURNS TABLE (was text, amount integer, workbook_id text)
LANGUAGE plpgsql
AS $$
DECLARE
  move_key text := 'close:' || p_job;
  month integer;
  held record;
BEGIN
  PERFORM svc_lock_credits(p_account);
  SELECT m.workbook_id INTO workbook_id FROM credit_movements m WHERE m.account_id = p_account AND m.key = 'reserve:' || p_job;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  SELECT sum(e.amount) INTO amount FROM credit_entries e
  WHERE e.account_id = p_account AND e.key = 'reserve:' || p_job AND e.bucket = 'reserved';
  SELECT m.kind INTO was FROM credit_movements m WHERE m.account_id = p_account AND m.key = move_key;
  IF was IS NULL THEN
    month := svc_credit_month_of(p_account, p_at);
    INSERT INTO credit_movements (account_id, key, kind, ref, workbook_id, at)
    VALUES (p_account, move_key, p_kind, p_job, svc_close_credits.workbook_id, p_at);
    FOR held IN
      SELECT e.source, e.ends, e.amount FROM credit_entries e
      WHERE e.account_id = p_account AND e.key = 'reserve:' || p_job AND e.bucket = 'reserved'
    LOOP
      PERFORM svc_shift_credits(
        p_account, move_key, p_at, held.source, held.ends, 'reserved',
        CASE WHEN p_kind = 'settle' THEN 'spent' WHEN held.ends < month THEN 'expired' ELSE 'available' END, held.amount);
    END LOOP;
  END IF;
  RETURN NEXT;
END;
$$;
--> statement-breakpoint
-- This month's credits, for showing; `included` is null as long as the month's grant is not in the books. What was bought
-- counts with what has been used of it since the month began. Always: included + purchased - used = remaining.
-- One statement, so that it becomes a part of the query that asks.
CREATE FUNCTION svc_read_credits(p_account text, p_at timestamptz)
RETURNS TABLE (included integer, purchased integer, used integer, remaining integer)
LANGUAGE sql STABLE
AS $$
  SELECT (sum(amount) FILTER (WHERE source = 'included'))::integer,
         coalesce(sum(amount) FILTER (WHERE source = 'purchased'), 0)::integer,
         coalesce(sum(amount) FILTER (WHERE bucket <> 'available'), 0)::integer,
         coalesce(sum(amount) FILTER (WHERE bucket = 'available'), 0)::integer
  FROM (
    SELECT lot.source, b.bucket, newest.balance - coalesce(before.balance, 0) AS amount
    FROM (
      SELECT DISTINCT e.source, e.ends FROM credit_entries e
      WHERE e.account_id = p_account AND e.bucket = 'issued' AND e.ends >= svc_credit_month(p_at)
    ) AS lot
    CROSS JOIN (VALUES ('available'), ('reserved'), ('spent')) AS b(bucket)
    CROSS JOIN LATERAL (
      SELECT e.balance FROM credit_entries e
      WHERE e.account_id = p_account AND e.bucket = b.bucket AND e.source = lot.source AND e.ends = lot.ends
      ORDER BY e.seq DESC LIMIT 1
    ) AS newest
    LEFT JOIN LATERAL (
      SELECT e.balance FROM credit_entries e
      WHERE e.account_id = p_account AND e.bucket = 'spent' AND e.source = lot.source AND e.ends = lot.ends
        AND e.at < date_trunc('month', p_at, 'UTC')
      ORDER BY e.at DESC, e.seq DESC LIMIT 1
    ) AS before ON b.bucket = 'spent' AND lot.source = 'purchased'
  ) AS balances;
$$;
