CREATE TABLE "databases" (
	"id" integer PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"entry" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"server_id" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "notification_channels" (
	"id" integer PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"entry" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "servers" (
	"id" integer PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"entry" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "settings" (
	"key" text PRIMARY KEY NOT NULL,
	"value" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sites" (
	"id" integer PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"entry" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"server_id" integer NOT NULL,
	"worker_count" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "storage_providers" (
	"id" integer PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"entry" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tokens" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "tokens_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"name" text NOT NULL,
	"hash" text NOT NULL,
	"abilities" text[] NOT NULL,
	"server_ids" integer[],
	"from_environment" boolean DEFAULT false NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"last_used_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "tokens_hash_unique" UNIQUE("hash")
);
--> statement-breakpoint
CREATE TABLE "workers" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "workers_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"site_id" integer NOT NULL,
	"connection" text NOT NULL,
	"queue" text NOT NULL,
	"max_jobs" integer NOT NULL,
	"max_time" integer NOT NULL,
	"force" boolean NOT NULL,
	"memory" integer NOT NULL,
	"sleep" integer NOT NULL,
	"timeout" integer NOT NULL,
	"tries" integer NOT NULL,
	"processes" integer NOT NULL,
	"directory" text NOT NULL,
	"startsecs" integer NOT NULL,
	"stopwaitsecs" integer NOT NULL,
	"startretries" integer NOT NULL,
	"stopsignal" text NOT NULL,
	"status" text NOT NULL,
	"status_reason" text,
	"transition" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "workers_status" CHECK ("workers"."status" in ('installing', 'installed', 'stopping', 'stopped', 'starting', 'restarting', 'failed', 'removing'))
);
--> statement-breakpoint
ALTER TABLE "databases" ADD CONSTRAINT "databases_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sites" ADD CONSTRAINT "sites_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "workers" ADD CONSTRAINT "workers_site_id_sites_id_fk" FOREIGN KEY ("site_id") REFERENCES "public"."sites"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "sites_of_server" ON "sites" USING btree ("server_id","id");--> statement-breakpoint
CREATE INDEX "workers_of_site" ON "workers" USING btree ("site_id","id");