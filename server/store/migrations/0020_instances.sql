CREATE TABLE "instances" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"home" uuid NOT NULL,
	"role" text NOT NULL,
	"address" text NOT NULL,
	"version" text NOT NULL,
	"started_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"until" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "server_leases" (
	"server_id" integer PRIMARY KEY NOT NULL,
	"instance_id" uuid,
	"instance_name" text NOT NULL,
	"epoch" integer DEFAULT 1 NOT NULL,
	"home" uuid,
	"since" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "worker_records" (
	"worker_id" integer PRIMARY KEY NOT NULL,
	"records" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "server_leases" ADD CONSTRAINT "server_leases_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "worker_records" ADD CONSTRAINT "worker_records_worker_id_workers_id_fk" FOREIGN KEY ("worker_id") REFERENCES "public"."workers"("id") ON DELETE cascade ON UPDATE no action;