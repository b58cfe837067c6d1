CREATE TABLE "mcp_events" (
	"session_hash" "bytea" NOT NULL,
	"account_id" text NOT NULL,
	"stream_id" text NOT NULL,
	"number" integer NOT NULL,
	"message" "bytea" NOT NULL,
	"is_last" boolean NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "mcp_events_session_hash_stream_id_number_pk" PRIMARY KEY("session_hash","stream_id","number")
);
--> statement-breakpoint
CREATE TABLE "mcp_sessions" (
	"id_hash" "bytea" PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"credential_id" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"used_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "mcp_events" ADD CONSTRAINT "mcp_events_session_hash_mcp_sessions_id_hash_fk" FOREIGN KEY ("session_hash") REFERENCES "public"."mcp_sessions"("id_hash") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "mcp_events_order" ON "mcp_events" USING btree ("session_hash","created_at");--> statement-breakpoint
CREATE INDEX "mcp_events_age" ON "mcp_events" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "mcp_sessions_credential" ON "mcp_sessions" USING btree ("credential_id","used_at");--> statement-breakpoint
CREATE INDEX "mcp_sessions_used" ON "mcp_sessions" USING btree ("used_at");--> statement-breakpoint
CALL svc_wall_off('mcp_sessions', 'svc_may_touch(account_id)');--> statement-breakpoint
CALL svc_wall_off('mcp_events', 'svc_may_touch(account_id)');
