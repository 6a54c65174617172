CREATE INDEX "sites_of_root" ON "sites" USING hash (("entry" ->> 'root'));--> statement-breakpoint
CREATE INDEX "webhooks_unreached" ON "webhooks" USING btree ("id") WHERE ("webhooks"."paused_at" is null and ("webhooks"."disabled_at" is not null or "webhooks"."failing_since" is not null));--> statement-breakpoint
CREATE INDEX "workers_in_trouble" ON "workers" USING btree ("site_id") WHERE ("workers"."unreachable_since" is not null or "workers"."status" = 'failed'
    or ("workers"."status" = 'restarting' and "workers"."status_reason" is not null));