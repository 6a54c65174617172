CREATE TABLE "worker_logs" (
	"worker_id" integer PRIMARY KEY NOT NULL,
	"state" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "worker_logs" ADD CONSTRAINT "worker_logs_worker_id_workers_id_fk" FOREIGN KEY ("worker_id") REFERENCES "public"."workers"("id") ON DELETE cascade ON UPDATE no action;