-- Events that were stored before anybody could be told of them are news to nobody now.
delete from "events";
--> statement-breakpoint
CREATE TABLE "activity" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "activity_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	"kind" text NOT NULL,
	"action" text NOT NULL,
	"outcome" text,
	"actor_type" text NOT NULL,
	"actor_name" text NOT NULL,
	"object_type" text NOT NULL,
	"object_id" integer NOT NULL,
	"object_name" text NOT NULL,
	"server_id" integer,
	"site_id" integer,
	"detail" text
);
--> statement-breakpoint
CREATE TABLE "channel_message_events" (
	"message_id" integer NOT NULL,
	"event_id" integer NOT NULL,
	CONSTRAINT "channel_message_events_message_id_event_id_pk" PRIMARY KEY("message_id","event_id")
);
--> statement-breakpoint
CREATE TABLE "channel_messages" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "channel_messages_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"channel_id" integer NOT NULL,
	"event" text NOT NULL,
	"title" text NOT NULL,
	"count" integer DEFAULT 1 NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"answer" text,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_attempt_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "channel_messages_status" CHECK ("channel_messages"."status" in ('pending', 'retrying', 'delivered', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "site_channels" (
	"site_id" integer NOT NULL,
	"channel_id" integer NOT NULL,
	CONSTRAINT "site_channels_site_id_channel_id_pk" PRIMARY KEY("site_id","channel_id")
);
--> statement-breakpoint
CREATE TABLE "webhook_attempts" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "webhook_attempts_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"delivery_id" integer NOT NULL,
	"started_at" timestamp (3) with time zone NOT NULL,
	"duration_ms" integer NOT NULL,
	"code" integer,
	"error" text,
	"request_headers" jsonb NOT NULL,
	"response_headers" jsonb,
	"response_body" text
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "webhook_deliveries_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"webhook_id" integer NOT NULL,
	"event_id" integer NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"status_reason" text,
	"code" integer,
	"duration_ms" integer,
	"attempts" integer DEFAULT 0 NOT NULL,
	"round_attempts" integer DEFAULT 0 NOT NULL,
	"by_hand" boolean DEFAULT false NOT NULL,
	"next_attempt_at" timestamp (3) with time zone,
	"ended_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "webhook_deliveries_status" CHECK ("webhook_deliveries"."status" in ('pending', 'retrying', 'delivered', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "webhooks" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "webhooks_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"site_id" integer NOT NULL,
	"url" text NOT NULL,
	"secret" text NOT NULL,
	"previous_secret" text,
	"previous_secret_until" timestamp (3) with time zone,
	"disabled_at" timestamp (3) with time zone,
	"disabled_reason" text,
	"failing_since" timestamp (3) with time zone,
	"paused_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
DROP INDEX "events_of_server";--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "site_id" integer;--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "database_id" integer;--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "message_id" text NOT NULL;--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "news" jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "told_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "told_failed" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "channel_message_events" ADD CONSTRAINT "channel_message_events_message_id_channel_messages_id_fk" FOREIGN KEY ("message_id") REFERENCES "public"."channel_messages"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "channel_message_events" ADD CONSTRAINT "channel_message_events_event_id_events_id_fk" FOREIGN KEY ("event_id") REFERENCES "public"."events"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "channel_messages" ADD CONSTRAINT "channel_messages_channel_id_notification_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."notification_channels"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "site_channels" ADD CONSTRAINT "site_channels_site_id_sites_id_fk" FOREIGN KEY ("site_id") REFERENCES "public"."sites"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "site_channels" ADD CONSTRAINT "site_channels_channel_id_notification_channels_id_fk" FOREIGN KEY ("channel_id") REFERENCES "public"."notification_channels"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_attempts" ADD CONSTRAINT "webhook_attempts_delivery_id_webhook_deliveries_id_fk" FOREIGN KEY ("delivery_id") REFERENCES "public"."webhook_deliveries"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_webhook_id_webhooks_id_fk" FOREIGN KEY ("webhook_id") REFERENCES "public"."webhooks"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_event_id_events_id_fk" FOREIGN KEY ("event_id") REFERENCES "public"."events"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_site_id_sites_id_fk" FOREIGN KEY ("site_id") REFERENCES "public"."sites"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "activity_of_server" ON "activity" USING btree ("server_id","id");--> statement-breakpoint
CREATE INDEX "activity_of_site" ON "activity" USING btree ("site_id","id");--> statement-breakpoint
CREATE INDEX "activity_by_age" ON "activity" USING btree ("at");--> statement-breakpoint
CREATE INDEX "channel_message_events_of_event" ON "channel_message_events" USING btree ("event_id");--> statement-breakpoint
CREATE INDEX "channel_messages_of_channel" ON "channel_messages" USING btree ("channel_id","id");--> statement-breakpoint
CREATE INDEX "channel_messages_due" ON "channel_messages" USING btree ("next_attempt_at") WHERE "channel_messages"."next_attempt_at" is not null;--> statement-breakpoint
CREATE INDEX "site_channels_of_channel" ON "site_channels" USING btree ("channel_id");--> statement-breakpoint
CREATE INDEX "webhook_attempts_of_delivery" ON "webhook_attempts" USING btree ("delivery_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_of_webhook" ON "webhook_deliveries" USING btree ("webhook_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_of_event" ON "webhook_deliveries" USING btree ("event_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due" ON "webhook_deliveries" USING btree ("next_attempt_at") WHERE "webhook_deliveries"."next_attempt_at" is not null;--> statement-breakpoint
CREATE INDEX "webhooks_of_site" ON "webhooks" USING btree ("site_id","id");--> statement-breakpoint
CREATE INDEX "events_untold" ON "events" USING btree ("id") WHERE "events"."told_at" is null;--> statement-breakpoint
CREATE INDEX "events_by_age" ON "events" USING btree ("created_at");
--> statement-breakpoint
-- Whoever waits for events is told at the commit that makes them.
create function announce_events() returns trigger language plpgsql as $$
begin
  perform pg_notify('quarterdeck_events', '');
  return null;
end
$$;
--> statement-breakpoint
create trigger events_added after insert on events
  for each statement execute function announce_events();
