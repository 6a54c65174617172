ALTER TABLE "workers" ALTER COLUMN "directory" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "deadline_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "deployment_id" integer;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "required_deployment_id" integer;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "crash_loop_since" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "crash_loop_reason" text;--> statement-breakpoint
CREATE INDEX "workers_deadline" ON "workers" USING btree ("deadline_at") WHERE "workers"."deadline_at" is not null;--> statement-breakpoint
-- Whoever named no directory meant the site's root, wherever that is.
update "workers" set "directory" = null from "sites"
where "sites"."id" = "workers"."site_id" and "workers"."directory" = "sites"."entry" ->> 'root';
--> statement-breakpoint
CREATE TABLE "server_channels" (
	"server_id" integer NOT NULL,
	"channel_id" integer NOT NULL,
	CONSTRAINT "server_channels_server_id_channel_id_pk" PRIMARY KEY("server_id","channel_id")
);
--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "order_key" text;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD COLUMN "order_key" text;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD COLUMN "is_missed" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "last_failed_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "failing_seconds" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "told_exhausted" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "server_channels" ADD CONSTRAINT "server_channels_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "server_channels" ADD CONSTRAINT "server_channels_channel_id_notification_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."notification_channels"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "server_channels_of_channel" ON "server_channels" USING btree ("channel_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_missed" ON "webhook_deliveries" USING btree ("webhook_id","id") WHERE "webhook_deliveries"."is_missed";--> statement-breakpoint
CREATE INDEX "webhook_deliveries_in_order" ON "webhook_deliveries" USING btree ("webhook_id","order_key","id") WHERE "webhook_deliveries"."next_attempt_at" is not null;
--> statement-breakpoint
-- What is still on its way keeps to the order from now on.
update "events" set "order_key" = case
  when "type" like 'worker.%' then 'worker:' || ("data"->>'worker_id')
  when "type" like 'backup.%' or "type" like 'restore.%' then 'backup-configuration:' || ("data"->>'configuration_id')
  when "type" like 'site.%' then 'site:' || ("data"->>'site_id')
  when "type" = 'webhook.disabled' then 'webhook:' || ("data"->>'webhook_id')
end;
--> statement-breakpoint
update "webhook_deliveries" d set "order_key" = e."order_key" from "events" e where e."id" = d."event_id";
--> statement-breakpoint
-- A ping or a redelivery that a disabled webhook did not take waited for an attempt that never came.
update "webhook_deliveries" d set "status" = 'failed', "next_attempt_at" = null, "ended_at" = now(), "is_missed" = d."order_key" is not null
from "webhooks" w
where w."id" = d."webhook_id" and w."disabled_at" is not null and d."next_attempt_at" is not null and not d."by_hand";
--> statement-breakpoint
ALTER TABLE "backup_configurations" ADD COLUMN "install_warnings" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "backup_tasks" ADD COLUMN "skip_safety_backup" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "backups" ADD COLUMN "checked_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "storage_providers" ADD COLUMN "marked_path" text;
--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "stopasgroup" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "restart_order" integer;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "kill_reason" text;
