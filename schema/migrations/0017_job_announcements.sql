ALTER TABLE "jobs" ADD COLUMN "announce" boolean DEFAULT false NOT NULL;--> statement-breakpoint
-- Jobs that are running say it in their input.
UPDATE jobs SET announce = true WHERE finished_at IS NULL AND input ->> 'announce' = 'true';
