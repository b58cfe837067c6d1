ALTER TABLE "results" ALTER COLUMN "blob_key" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "results" ADD COLUMN "content" "bytea";--> statement-breakpoint
ALTER TABLE "results" ADD COLUMN "elapsed_ms" integer DEFAULT 0 NOT NULL;