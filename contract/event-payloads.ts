// Schemas of the requests to webhooks, one for each event. The service's tests validate every request with them, and
// the interface description and the documentation are generated from them.
import * as z from "zod/mini";
import type { EventType } from "./events.ts";
import { timestamp } from "./values.ts";

/** Adds the example and the description that the documentation shows. */
const field = <Schema extends z.ZodMiniType>(
  schema: Schema,
  example: z.output<Schema>,
  description: string,
): Schema => {
  z.globalRegistry.add(schema, { description, examples: [example] });
  return schema;
};
const id = (example: number, description: string) =>
  field(z.int().check(z.gte(1)), example, description);
const text = (example: string, description: string) => field(z.string(), example, description);
const count = (example: number, description: string) =>
  field(z.int().check(z.gte(0)), example, description);
// A clone, so that the description applies to this field only.
const moment = (example: string, description: string) =>
  field(z.clone(timestamp), example, description);
const orNull = <Schema extends z.ZodMiniType>(
  schema: Schema,
  example: z.output<Schema> | null,
  description: string,
) => field(z.nullable(schema), example, description);

const server = {
  server_id: id(1, "The server's id."),
  server: text("web-1", "The server's name."),
};

/** Fields of an event of a site. */
const ofSite = {
  ...server,
  site_id: id(7, "The site's id."),
  site: text("shop", "The site's name."),
};

const reason = (example: string) =>
  text(example, "The reason, in a tool's or the service's words.");
const size = count(10_485_760, "Stored size in bytes.");

const ofWebhook = {
  ...ofSite,
  webhook_id: id(3, "The webhook's id."),
};

const ofDeployment = {
  ...ofSite,
  commit: z.optional(text("4f1c2d3", "The deployed commit.")),
  branch: z.optional(text("main", "The deployed branch.")),
  author: z.optional(text("Ada", "Who deployed.")),
  message: z.optional(
    text("Charge in cents", "The commit's message, or why the deployment failed."),
  ),
  url: z.optional(text("https://ci.example.com/runs/118", "URL of the pipeline run.")),
};

const ofWorker = {
  ...ofSite,
  worker_id: id(12, "The worker's id."),
  connection: text("redis", "The worker's connection."),
  queue: text("emails,default", "The worker's queues."),
};

/** For the backup of a database the site is null, and the reverse. */
const ofConfiguration = {
  ...server,
  site_id: orNull(z.int(), null, "The site that is backed up; null for a database."),
  site: orNull(z.string(), null, "The site's name."),
  database_id: orNull(z.int(), 4, "The database that is backed up; null for a site."),
  database: orNull(z.string(), "orders", "The database's name."),
  sites: field(
    z.array(z.object({ id: z.int(), name: z.string() })),
    [{ id: 7, name: "shop" }],
    "The site itself, or those of the server whose inventory entry names the database.",
  ),
  configuration_id: id(5, "The backup configuration's id."),
  configuration: text("Orders, nightly", "The backup configuration's name."),
  backupable_type: text("database", "`database` or `site`."),
  backupable_id: id(4, "The id of the database or of the site."),
  next_run_at: orNull(
    z.clone(timestamp),
    "2026-02-01T03:00:00.000000Z",
    "Time of the next scheduled run; null for none.",
  ),
};

const ofBackup = {
  ...ofConfiguration,
  backup_id: id(912, "The backup's id."),
  trigger: text(
    "schedule",
    "What triggered the backup: `schedule` or `manual`; `copy` for a copy of a run in a second storage. Events of a restore, a drill or damage also have `safety` for a backup made before a restore, `import` for an imported file, and `adopted` for a backup of an earlier installation.",
  ),
  size,
  started_at: moment("2026-01-31T03:00:00.000000Z", "Start of the run."),
  ended_at: orNull(z.clone(timestamp), "2026-01-31T03:02:04.000000Z", "End of the run."),
  warnings: field(z.array(z.string()), [], "Warnings of the run."),
};

const ofRestore = {
  ...ofBackup,
  restore_target: orNull(
    z.string(),
    null,
    "What was restored into; null for the backup's own source. The server, database and site above are then the target's.",
  ),
  restore_started_at: orNull(
    z.clone(timestamp),
    "2026-01-31T09:28:10.000000Z",
    "Start of the restore; null if it never started.",
  ),
  restore_ended_at: moment("2026-01-31T09:30:00.000000Z", "End of the restore."),
};

const pascal = (type: string) =>
  type.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase());

const payload = <const Type extends EventType, Shape extends z.core.$ZodLooseShape>(
  type: Type,
  data: Shape,
) =>
  z
    .object({
      type: z.literal(type),
      timestamp: moment("2026-01-31T09:30:00.000000Z", "Time of the event."),
      data: z.object(data),
    })
    .register(z.globalRegistry, { id: `${pascal(type)}Event` });

/** Schemas of `data` by `type`. Later versions may add fields. */
export const eventPayloads = {
  "webhook.ping": payload("webhook.ping", ofWebhook),
  "webhook.disabled": payload("webhook.disabled", {
    ...ofWebhook,
    host: text("hooks.example.com", "Host of the webhook's URL."),
    reason: reason("Receiver unsubscribed (410 Gone)."),
    missed_deliveries: count(
      2,
      "Deliveries that stopped with the webhook. They can be sent later.",
    ),
  }),
  "webhook.enabled": payload("webhook.enabled", {
    ...ofWebhook,
    host: text("hooks.example.com", "Host of the webhook's URL."),
    disabled_since: moment(
      "2026-01-29T18:04:00.000000Z",
      "Time at which the webhook was disabled.",
    ),
    missed_deliveries: count(
      14,
      "Deliveries missed while the webhook was disabled. They can be sent now.",
    ),
  }),
  "webhook.delivery_failed": payload("webhook.delivery_failed", {
    ...ofWebhook,
    host: text("hooks.example.com", "Host of the webhook's URL."),
    delivery_id: id(4711, "The failed delivery's id. The delivery can be resent manually."),
    event: text("backup.failed", "The event of the failed delivery."),
    attempts: count(10, "Number of attempts."),
    reason: text("Receiver returned 500.", "Result of the last attempt."),
  }),
  "site.deployed": payload("site.deployed", {
    ...ofDeployment,
    status: field(z.literal("finished"), "finished", "As it was reported."),
  }),
  "site.deployment_failed": payload("site.deployment_failed", {
    ...ofDeployment,
    status: field(z.literal("failed"), "failed", "As it was reported."),
  }),
  "backup.finished": payload("backup.finished", {
    ...ofBackup,
    recovered: field(z.boolean(), false, "Whether this is the first run after a missed run."),
  }),
  "backup.failed": payload("backup.failed", {
    ...ofBackup,
    reason: reason("pg_dump: error: connection to server failed: Connection refused"),
  }),
  "backup.missed": payload("backup.missed", {
    ...ofConfiguration,
    due_at: moment("2026-01-31T03:00:00.000000Z", "Scheduled start of the run."),
  }),
  "backup.damaged": payload("backup.damaged", {
    ...ofBackup,
    found_at: moment("2026-01-31T09:30:00.000000Z", "Time at which the damage was found."),
    reason: text(
      "shop/4/12-20260131T030004Z.dump.zst has 512 bytes instead of 1204.",
      "What is wrong with the stored file.",
    ),
  }),
  "backup.drill_failed": payload("backup.drill_failed", {
    ...ofBackup,
    drill_started_at: orNull(
      z.clone(timestamp),
      "2026-01-31T09:28:10.000000Z",
      "Start of the drill; null if it never started.",
    ),
    drill_ended_at: moment("2026-01-31T09:30:00.000000Z", "End of the drill."),
    reason: reason("The table orders has 0 rows instead of 1204."),
  }),
  "restore.finished": payload("restore.finished", ofRestore),
  "restore.failed": payload("restore.failed", {
    ...ofRestore,
    reason: reason(
      "Checksum mismatch: shop/4/12-20260131T030004Z.dump.zst is not the file that was stored.",
    ),
  }),
  "worker.failed": payload("worker.failed", {
    ...ofWorker,
    status: text("failed", "The worker's status after the event."),
    reason: z.optional(reason("Process 1: Exited with code 1.")),
  }),
  "worker.recovered": payload("worker.recovered", {
    ...ofWorker,
    status: text("installed", "The worker's status after the event."),
  }),
  "worker.crash_looping": payload("worker.crash_looping", {
    ...ofWorker,
    status: text("restarting", "The worker's status at the time of the event."),
    reason: z.optional(reason("Process 1 exited at least 5 times in 10 minutes.")),
  }),
  "worker.stable": payload("worker.stable", {
    ...ofWorker,
    status: text("installed", "The worker's status at the time of the event."),
  }),
  "server.unreachable": payload("server.unreachable", {
    ...server,
    unreachable_since: moment("2026-01-31T09:30:00.000000Z", "Since when it is unreachable."),
    reason: reason("10.0.0.5 did not respond."),
  }),
  "server.recovered": payload("server.recovered", {
    ...server,
    unreachable_since: moment("2026-01-31T09:30:00.000000Z", "Since when it was unreachable."),
  }),
} satisfies Record<EventType, z.ZodMiniType>;

/** The fields of an event's `data`, derived from its schema. */
export type EventData<Type extends EventType> = z.output<(typeof eventPayloads)[Type]>["data"];
