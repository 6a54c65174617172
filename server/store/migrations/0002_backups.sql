CREATE TABLE "backup_configurations" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "backup_configurations_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"server_id" integer NOT NULL,
	"name" text NOT NULL,
	"frequency" text NOT NULL,
	"hold" integer NOT NULL,
	"directory" text NOT NULL,
	"storage_provider_id" integer NOT NULL,
	"type" text NOT NULL,
	"database_id" integer,
	"site_id" integer,
	"drill" integer,
	"status" text NOT NULL,
	"status_reason" text,
	"transition" integer DEFAULT 1 NOT NULL,
	"next_run_at" timestamp (3) with time zone,
	"missed_since" timestamp (3) with time zone,
	"last_proven_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "backup_configurations_status" CHECK ("backup_configurations"."status" in ('installing', 'installed', 'failed', 'removing')),
	CONSTRAINT "backup_configurations_source" CHECK (("backup_configurations"."type" = 'database') = ("backup_configurations"."database_id" is not null) and ("backup_configurations"."type" = 'site') = ("backup_configurations"."site_id" is not null))
);
--> statement-breakpoint
CREATE TABLE "backup_tasks" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "backup_tasks_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"server_id" integer NOT NULL,
	"backup_id" integer NOT NULL,
	"kind" text NOT NULL,
	"started_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "backups" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "backups_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"configuration_id" integer NOT NULL,
	"storage_provider_id" integer NOT NULL,
	"trigger" text NOT NULL,
	"status" text NOT NULL,
	"status_reason" text,
	"transition" integer DEFAULT 1 NOT NULL,
	"path" text DEFAULT '' NOT NULL,
	"size" bigint DEFAULT 0 NOT NULL,
	"plain_size" bigint DEFAULT 0 NOT NULL,
	"stored_bytes" bigint DEFAULT 0 NOT NULL,
	"checksum" text,
	"manifest" jsonb,
	"warnings" text[] DEFAULT '{}' NOT NULL,
	"output" text DEFAULT '' NOT NULL,
	"restore_status" text,
	"restore_output" text,
	"restored_at" timestamp (3) with time zone,
	"drill_status" text,
	"drill_output" text,
	"drilled_at" timestamp (3) with time zone,
	"verified_at" timestamp (3) with time zone,
	"damage" text,
	"started_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp (3) with time zone,
	CONSTRAINT "backups_status" CHECK ("backups"."status" in ('pending', 'running', 'finished', 'failed', 'deleting'))
);
--> statement-breakpoint
CREATE TABLE "events" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "events_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"type" text NOT NULL,
	"server_id" integer NOT NULL,
	"data" jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "backup_configurations" ADD CONSTRAINT "backup_configurations_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "backup_configurations" ADD CONSTRAINT "backup_configurations_storage_provider_id_storage_providers_id_fk" FOREIGN KEY ("storage_provider_id") REFERENCES "public"."storage_providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "backup_configurations" ADD CONSTRAINT "backup_configurations_database_id_databases_id_fk" FOREIGN KEY ("database_id") REFERENCES "public"."databases"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "backup_configurations" ADD CONSTRAINT "backup_configurations_site_id_sites_id_fk" FOREIGN KEY ("site_id") REFERENCES "public"."sites"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "backup_tasks" ADD CONSTRAINT "backup_tasks_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "backup_tasks" ADD CONSTRAINT "backup_tasks_backup_id_backups_id_fk" FOREIGN KEY ("backup_id") REFERENCES "public"."backups"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "backups" ADD CONSTRAINT "backups_configuration_id_backup_configurations_id_fk" FOREIGN KEY ("configuration_id") REFERENCES "public"."backup_configurations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "backups" ADD CONSTRAINT "backups_storage_provider_id_storage_providers_id_fk" FOREIGN KEY ("storage_provider_id") REFERENCES "public"."storage_providers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "backup_configurations_of_server" ON "backup_configurations" USING btree ("server_id","id");--> statement-breakpoint
CREATE INDEX "backup_configurations_due" ON "backup_configurations" USING btree ("next_run_at");--> statement-breakpoint
CREATE INDEX "backup_tasks_of_server" ON "backup_tasks" USING btree ("server_id","id");--> statement-breakpoint
CREATE INDEX "backup_tasks_of_backup" ON "backup_tasks" USING btree ("backup_id");--> statement-breakpoint
CREATE INDEX "backups_of_configuration" ON "backups" USING btree ("configuration_id","id");--> statement-breakpoint
CREATE INDEX "events_of_server" ON "events" USING btree ("server_id","id");