// What the request to a webhook says, one schema for each event. The service's tests parse with them whatever it sends,
// and the interface description and the documentation are made from them.
import * as z from "zod/mini";
import { eventTypes, type EventType } from "./events.ts";
import { timestamp } from "./values.ts";

/** A field with what a reader of the documentation sees of it. */
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
// A clone, so that a description goes to this field alone.
const moment = (example: string, description: string) =>
  field(z.clone(timestamp), example, description);
const orNull = <Schema extends z.ZodMiniType>(
  schema: Schema,
  example: z.output<Schema> | null,
  description: string,
) => field(z.nullable(schema), example, description);

const server = {
  server_id: id(1, "The server it happened on."),
  server: text("web-1", "The server's name."),
};

/** Of what happened on a site. */
const ofSite = {
  ...server,
  site_id: id(7, "The site."),
  site: text("shop", "The site's name."),
};

const reason = (example: string) => text(example, "Why, in a tool's or the service's own words.");
const size = count(10_485_760, "Bytes as stored.");

const ofWebhook = {
  ...ofSite,
  webhook_id: id(3, "The webhook that it is about."),
};

const ofDeployment = {
  ...ofSite,
  commit: z.optional(text("4f1c2d3", "The deployed commit.")),
  branch: z.optional(text("main", "The deployed branch.")),
  author: z.optional(text("Ada", "Who deployed.")),
  message: z.optional(
    text("Charge in cents", "The commit's message, or why the deployment failed."),
  ),
  url: z.optional(text("https://ci.example.com/runs/118", "The pipeline's run.")),
};

const ofWorker = {
  ...ofSite,
  worker_id: id(12, "The worker."),
  connection: text("redis", "The worker's connection."),
  queue: text("emails,default", "The worker's queues."),
};

/** Of a database's backup the site is null, and of a site's the database. */
const ofConfiguration = {
  ...server,
  site_id: orNull(z.int(), null, "The site that is backed up; null = it is a database."),
  site: orNull(z.string(), null, "The site's name."),
  database_id: orNull(z.int(), 4, "The database that is backed up; null = it is a site."),
  database: orNull(z.string(), "orders", "The database's name."),
  sites: field(
    z.array(z.object({ id: z.int(), name: z.string() })),
    [{ id: 7, name: "shop" }],
    "The site itself, or those of the server whose inventory entry names the database.",
  ),
  configuration_id: id(5, "The backup configuration."),
  configuration: text("Orders, nightly", "The backup configuration's name."),
  backupable_type: text("database", "`database` or `site`."),
  backupable_id: id(4, "The id of the database or of the site."),
  next_run_at: orNull(
    z.clone(timestamp),
    "2026-02-01T03:00:00.000000Z",
    "When its next run is due; null = never.",
  ),
};

const ofBackup = {
  ...ofConfiguration,
  backup_id: id(912, "The backup."),
  trigger: text("schedule", "What asked for the backup: `schedule` or `manual`."),
  size,
  started_at: moment("2026-01-31T03:00:00.000000Z", "When the backup's run began."),
  ended_at: orNull(
    z.clone(timestamp),
    "2026-01-31T03:02:04.000000Z",
    "When the backup's run ended.",
  ),
  warnings: field(z.array(z.string()), [], "What the run warned of."),
};

const ofRestore = {
  ...ofBackup,
  restore_started_at: orNull(
    z.clone(timestamp),
    "2026-01-31T09:28:10.000000Z",
    "When the restore began; null = it never did.",
  ),
  restore_ended_at: moment("2026-01-31T09:30:00.000000Z", "When the restore ended."),
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
      timestamp: moment("2026-01-31T09:30:00.000000Z", "When it happened."),
      data: z.object(data),
    })
    .register(z.globalRegistry, { id: `${pascal(type)}Event` });

/** The body of a request, by its `type`. Later versions may add fields. */
export const eventPayloads = {
  "webhook.ping": payload("webhook.ping", ofWebhook),
  "webhook.disabled": payload("webhook.disabled", {
    ...ofWebhook,
    host: text("hooks.example.com", "Where the webhook leads."),
    reason: reason("The receiver answered 410: it wants nothing more."),
    missed_deliveries: count(2, "Deliveries that were given up with it. They can be sent later."),
  }),
  "webhook.enabled": payload("webhook.enabled", {
    ...ofWebhook,
    host: text("hooks.example.com", "Where the webhook leads."),
    disabled_since: moment("2026-01-29T18:04:00.000000Z", "Since when it was disabled."),
    missed_deliveries: count(14, "Deliveries that it missed meanwhile. They can be sent now."),
  }),
  "webhook.delivery_failed": payload("webhook.delivery_failed", {
    ...ofWebhook,
    host: text("hooks.example.com", "Where the webhook leads."),
    delivery_id: id(4711, "The delivery that was given up. It can be sent again by hand."),
    event: text("backup.failed", "The event that it would have told."),
    attempts: count(10, "How often the delivery was tried."),
    reason: text("The receiver answered 500.", "What became of the last attempt."),
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
    recovered: field(z.boolean(), false, "Whether this is the first run after a missed one."),
  }),
  "backup.failed": payload("backup.failed", {
    ...ofBackup,
    reason: reason("pg_dump: error: connection to server failed: Connection refused"),
  }),
  "backup.missed": payload("backup.missed", {
    ...ofConfiguration,
    due_at: moment("2026-01-31T03:00:00.000000Z", "When the run should have begun."),
  }),
  "backup.damaged": payload("backup.damaged", {
    ...ofBackup,
    found_at: moment("2026-01-31T09:30:00.000000Z", "When the damage was found."),
    reason: text("The stored file is shorter than it was.", "What is wrong with the stored file."),
  }),
  "backup.drill_failed": payload("backup.drill_failed", {
    ...ofBackup,
    drill_started_at: orNull(
      z.clone(timestamp),
      "2026-01-31T09:28:10.000000Z",
      "When the drill began; null = it never did.",
    ),
    drill_ended_at: moment("2026-01-31T09:30:00.000000Z", "When the drill ended."),
    reason: reason("The table orders came back with 0 rows instead of 1204."),
  }),
  "restore.finished": payload("restore.finished", ofRestore),
  "restore.failed": payload("restore.failed", {
    ...ofRestore,
    reason: reason("The file as it is stored is not the one that was stored."),
  }),
  "worker.failed": payload("worker.failed", {
    ...ofWorker,
    status: text("failed", "The worker's status after this."),
    reason: z.optional(reason("Process 1: Exited with code 1.")),
  }),
  "worker.recovered": payload("worker.recovered", {
    ...ofWorker,
    status: text("installed", "The worker's status after this."),
  }),
  "worker.crash_looping": payload("worker.crash_looping", {
    ...ofWorker,
    status: text("restarting", "The worker's status at this moment."),
    reason: z.optional(reason("Process 1 ended by itself 5 times in the last 10 minutes.")),
  }),
  "worker.stable": payload("worker.stable", {
    ...ofWorker,
    status: text("installed", "The worker's status at this moment."),
  }),
} satisfies Record<EventType, z.ZodMiniType>;

/** The fields of an event's `data`, as its schema has them. */
export type EventData<Type extends EventType> = z.output<(typeof eventPayloads)[Type]>["data"];

/** Any of them, told apart by `type`. */
export const eventPayload = z.union(eventTypes.map((type) => eventPayloads[type]));
