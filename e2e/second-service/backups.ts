// Backups of the second service. A run is queued, copied and finished, which the response to its request does not mention.
import {
  type Course,
  nextId,
  nothing,
  notThere,
  page,
  problem,
  type Routes,
  withOffset,
  wrapped,
} from "./responses.ts";

type Backup = { id: number; startedMs: number; status: () => string; restore: () => string | null };
type Configuration = {
  id: number;
  serverId: number;
  settings: Record<string, unknown>;
  target: { type: unknown; id: unknown };
  status: () => string;
  backups: Backup[];
};

const settable = ["name", "frequency", "hold", "directory", "storage_provider_id"];

function showBackup({ id, startedMs, status, restore }: Backup) {
  const isOver = status() === "finished";
  const restored = restore();
  return {
    id,
    path: `vault/${id}.tar`,
    size: isOver ? 48_200_000 : 0,
    output: isOver ? "copied 12 files\n" : "",
    status: status(),
    restore_output: restored === null ? null : "unpacked 12 files",
    restore_status: restored,
    started_at: withOffset(startedMs),
    ended_at: isOver ? withOffset(startedMs + 2000) : null,
    restored_at: restored === "finished" ? withOffset(Date.now()) : null,
    duration: "2 seconds",
    // Fields beyond the interface, with names that Quarterdeck uses for other values.
    progress: 100,
    warnings: null,
    trigger: { by: "cron" },
  };
}

function show({ id, serverId, settings, target, status, backups }: Configuration) {
  const shown = backups.map(showBackup);
  return {
    id,
    ...settings,
    hold: settings["hold"] ?? null,
    directory: settings["directory"] ?? null,
    status: status(),
    type: target.type,
    backupable: {
      id: target.id,
      name: `${String(target.type)}-${String(target.id)}`,
      status: "active",
      created_at: withOffset(Date.UTC(2026, 0, 31)),
    },
    last_backup: shown[0] ?? null,
    last_backup_at: shown[0]?.started_at ?? null,
    backups: shown,
    server_id: serverId,
    labels: { tier: "gold" },
  };
}

function refuse(body: Record<string, unknown>, known: readonly string[]) {
  const errors = [
    ...Object.keys(body)
      .filter((name) => !known.includes(name))
      .map((name) => ({ pointer: `#/${name}`, detail: `There is no field “${name}”.` })),
    ...(body["storage_provider_id"] === 13
      ? [{ pointer: "#/storage_provider_id", detail: "No such vault." }]
      : []),
    ...(body["name"] === "" ? [{ pointer: "#/name", detail: "A name is due." }] : []),
  ];
  return errors.length === 0 ? null : problem(422, "Some fields do not fit.", { errors });
}

export function backupRoutes(isServer: (id: number) => boolean, course: Course): Routes {
  const configurations: Configuration[] = [];
  const find = (id: number) => configurations.find((one) => one.id === id);
  const holder = (backupId: number) =>
    configurations.find(({ backups }) => backups.some(({ id }) => id === backupId));
  const findBackup = (id: number) => holder(id)?.backups.find((one) => one.id === id);

  return {
    "GET /api/server/{id}/backups": (call) => {
      if (!isServer(call.id)) return notThere();
      // The other lists ignore unknown parameters.
      if (call.query.has("sort")) return problem(400, "This list has one order.");
      return page(configurations.filter(({ serverId }) => serverId === call.id).map(show), call);
    },
    "GET /api/backup-configuration/{id}": ({ id }) => {
      const found = find(id);
      return found === undefined ? notThere() : wrapped(200, show(found));
    },
    "POST /api/server/{id}/backup-configuration": ({ id: serverId, body }) => {
      if (!isServer(serverId)) return notThere();
      const refusal = refuse(body, [...settable, "backupable_type", "backupable_id"]);
      if (refusal !== null) return refusal;
      const { backupable_type: type, backupable_id: id, ...settings } = body;
      const made: Configuration = {
        id: nextId(),
        serverId,
        settings,
        target: { type, id },
        status: course("installing", "provisioning", "active"),
        backups: [],
      };
      configurations.push(made);
      return { status: 200, body: show(made) };
    },
    "PUT /api/backup-configuration/{id}": ({ id, body }) => {
      const found = find(id);
      if (found === undefined) return notThere();
      const refusal = refuse(body, settable);
      if (refusal !== null) return refusal;
      Object.assign(found.settings, body);
      return wrapped(200, show(found));
    },
    "DELETE /api/backup-configuration/{id}": ({ id }) => {
      const found = find(id);
      if (found === undefined) return notThere();
      configurations.splice(configurations.indexOf(found), 1);
      return nothing;
    },
    "POST /api/backup/{id}": ({ id }) => {
      const found = find(id);
      if (found === undefined) return notThere();
      found.backups.unshift({
        id: nextId(),
        startedMs: Date.now(),
        status: course("queued", "copying", "finished"),
        restore: () => null,
      });
      return { status: 200, body: { message: "It is in the queue." } };
    },
    "GET /api/backup/{id}": ({ id }) => {
      const found = findBackup(id);
      return found === undefined ? notThere() : wrapped(200, showBackup(found));
    },
    "PUT /api/backup/{id}": ({ id }) => {
      const found = findBackup(id);
      if (found === undefined) return notThere();
      found.restore = course("restoring", "finished");
      return { status: 202 };
    },
    "DELETE /api/backup/{id}": ({ id }) => {
      const found = holder(id);
      if (found === undefined) return notThere();
      found.backups = found.backups.filter((one) => one.id !== id);
      return nothing;
    },
  };
}
