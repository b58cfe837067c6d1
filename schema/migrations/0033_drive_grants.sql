CREATE TABLE "drive_grants" (
	"user_id" text NOT NULL,
	"account_id" text NOT NULL,
	"provider" text NOT NULL,
	"tokens" "bytea",
	"email" text,
	"scopes" text[] NOT NULL,
	"authorized_at" timestamp (3) with time zone NOT NULL,
	"updated_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "drive_grants_user_id_account_id_provider_pk" PRIMARY KEY("user_id","account_id","provider")
);
--> statement-breakpoint
ALTER TABLE "drive_grants" ADD CONSTRAINT "drive_grants_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "drive_grants" ADD CONSTRAINT "drive_grants_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CALL svc_wall_off('drive_grants', 'svc_may_touch(account_id)');
