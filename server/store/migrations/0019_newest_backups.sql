CREATE TABLE "newest_backups" (
	"configuration_id" integer PRIMARY KEY NOT NULL,
	"status" text,
	"is_damaged" boolean DEFAULT false NOT NULL,
	"begun_at" timestamp (3) with time zone,
	"good_id" integer,
	"good_started_at" timestamp (3) with time zone,
	"good_ended_at" timestamp (3) with time zone,
	"good_size" bigint,
	"good_plain_size" bigint,
	"stored_id" integer,
	"stored_checked_at" timestamp (3) with time zone,
	"runs" jsonb,
	"oldest_ended_at" timestamp (3) with time zone
);
--> statement-breakpoint
ALTER TABLE "newest_backups" ADD CONSTRAINT "newest_backups_configuration_id_backup_configurations_id_fk" FOREIGN KEY ("configuration_id") REFERENCES "public"."backup_configurations"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "backups_not_removed" ON "backups" USING btree ("configuration_id") WHERE "backups"."status" = 'failed' and "backups"."path" <> '';--> statement-breakpoint
CREATE INDEX "backups_of_restores" ON "backups" USING btree ("ended_at") WHERE "backups"."trigger" = 'safety';--> statement-breakpoint
-- Fills a row of newest_backups from the backups as they are once the row is locked.
create function sum_up_backups() returns trigger language plpgsql as $$
begin
  select run.status, coalesce(run.is_damaged, false), begun.started_at,
    good.id, good.started_at, good.ended_at, good.size, good.plain_size,
    stored.id, stored.checked_at,
    case when ten.is_well then null else ten.runs end, ten.oldest_ended_at
  into new.status, new.is_damaged, new.begun_at,
    new.good_id, new.good_started_at, new.good_ended_at, new.good_size, new.good_plain_size,
    new.stored_id, new.stored_checked_at,
    new.runs, new.oldest_ended_at
  from (
    select max(ended_at) filter (where id = oldest_id) as oldest_ended_at,
      bool_and(id <> last_id or id = good_id and warnings = '{}' and status_reason is null) and bool_and(damage is null)
        and count(good_id) > 0 as is_well,
      jsonb_agg(jsonb_build_object('id', id, 'status', status, 'trigger', trigger, 'damage', damage,
          'reason', split_part(status_reason, e'\n', 1), 'warnings', warnings,
          'ended', extract(epoch from ended_at)::float8) order by id desc)
        filter (where id in (last_id, ended_id, finished_id, good_id) or damage is not null) as runs
    from (
      select *, min(id) over () as oldest_id,
        max(id) filter (where trigger <> 'safety') over () as last_id,
        max(id) filter (where trigger <> 'safety' and ended_at is not null) over () as ended_id,
        max(id) filter (where trigger <> 'safety' and status = 'finished') over () as finished_id,
        max(id) filter (where trigger <> 'safety' and status = 'finished' and damage is null) over () as good_id
      from (
        select id, status, trigger, damage, status_reason, warnings, ended_at from backups
        where configuration_id = new.configuration_id order by id desc limit 10
      ) newest
    ) marked
  ) ten
  left join lateral (
    select status, damage is not null as is_damaged from backups
    where configuration_id = new.configuration_id and trigger <> 'safety' order by id desc limit 1
  ) run on true
  left join lateral (
    select started_at from backups
    where configuration_id = new.configuration_id and trigger <> 'safety' and status <> 'pending' order by id desc limit 1
  ) begun on true
  left join lateral (
    select id, started_at, ended_at, size, plain_size from backups
    where configuration_id = new.configuration_id and trigger <> 'safety' and status = 'finished' and damage is null
    order by id desc limit 1
  ) good on true
  left join lateral (
    select id, coalesce(checked_at, verified_at, ended_at) as checked_at from backups
    where id = coalesce(
      (select id from backups where configuration_id = new.configuration_id and trigger <> 'safety' and status = 'finished'
        order by id desc limit 1),
      (select id from backups where configuration_id = new.configuration_id and status = 'finished' order by id desc limit 1))
  ) stored on true;
  return new;
end
$$;
--> statement-breakpoint
create trigger newest_backups_sum_up before insert or update on newest_backups
  for each row execute function sum_up_backups();
--> statement-breakpoint
create function note_newest_backups() returns trigger language plpgsql as $$
declare
  id_of_configuration int := coalesce(new.configuration_id, old.configuration_id);
begin
  update newest_backups set configuration_id = id_of_configuration where configuration_id = id_of_configuration;
  if not found then
    insert into newest_backups (configuration_id)
    select id from backup_configurations where id = id_of_configuration
    on conflict (configuration_id) do update set configuration_id = excluded.configuration_id;
  end if;
  return null;
end
$$;
--> statement-breakpoint
-- At the commit: whoever locks this row locks nothing after it, so whatever was locked before, nobody waits in a circle.
create constraint trigger backups_came_or_went after insert or delete on backups
  deferrable initially deferred for each row execute function note_newest_backups();
--> statement-breakpoint
-- What a run reports while it goes on changes none of these.
create constraint trigger backups_changed after update on backups
  deferrable initially deferred for each row when (
    (old.status, old.damage, old.status_reason, old.warnings, old.started_at, old.ended_at, old.checked_at, old.verified_at)
    is distinct from
    (new.status, new.damage, new.status_reason, new.warnings, new.started_at, new.ended_at, new.checked_at, new.verified_at))
  execute function note_newest_backups();
--> statement-breakpoint
insert into newest_backups (configuration_id) select id from backup_configurations;
