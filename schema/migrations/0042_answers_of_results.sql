ALTER TABLE "results" ADD COLUMN "content_form" text DEFAULT 'file' NOT NULL;--> statement-breakpoint
ALTER TABLE "results" ADD COLUMN "answer_key" text;--> statement-breakpoint
-- Safe while the release before runs: rows go after a day.
CREATE INDEX "results_answer" ON "results" USING btree ("answer_key") WHERE answer_key IS NOT NULL;--> statement-breakpoint
-- Content is written once and read once or never: compressing it would take longer than everything else.
ALTER TABLE "results" ALTER COLUMN "content" SET STORAGE EXTERNAL;
