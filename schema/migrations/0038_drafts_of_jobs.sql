-- Drafts of jobs that are gone; an hourly sweep removed them till now.
DELETE FROM "job_drafts" WHERE NOT EXISTS (SELECT 1 FROM "jobs" WHERE "jobs"."id" = "job_id");--> statement-breakpoint
ALTER TABLE "job_drafts" ADD CONSTRAINT "job_drafts_job_id_jobs_id_fk" FOREIGN KEY ("job_id") REFERENCES "public"."jobs"("id") ON DELETE cascade ON UPDATE no action;
