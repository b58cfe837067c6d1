ALTER TABLE "jobs" ADD COLUMN "admitted_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "jobs_unfinished_user" ON "jobs" USING btree ("user_id","created_at") WHERE finished_at IS NULL;--> statement-breakpoint
-- Jobs that were registered before have been started.
UPDATE jobs SET admitted_at = created_at WHERE finished_at IS NULL;
