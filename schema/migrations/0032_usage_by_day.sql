CREATE TABLE "usage_rollups" (
	"day" date PRIMARY KEY NOT NULL,
	"at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "usage_samples" (
	"account_id" text NOT NULL,
	"day" date NOT NULL,
	"storage_bytes" bigint NOT NULL,
	"tables" integer NOT NULL,
	"at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "usage_samples_account_id_day_pk" PRIMARY KEY("account_id","day")
);--> statement-breakpoint
CALL svc_wall_off('usage_samples', 'svc_may_touch(account_id)');
