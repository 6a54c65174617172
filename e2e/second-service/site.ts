// Objects of a site in the second service: workers, webhooks, and the channels that the site uses.
import {
  type Course,
  nextId,
  nothing,
  notThere,
  page,
  problem,
  type Routes,
  withMicroseconds,
  withOffset,
  wrapped,
} from "./responses.ts";

type Worker = {
  id: number;
  settings: Record<string, unknown>;
  madeMs: number;
  status: () => string;
};
type IsSite = (id: number) => boolean;
type Webhook = { id: number; url: unknown; madeMs: number };

const settable = [
  ["connection", "queue"],
  ["max_jobs", "max_time", "force", "memory", "sleep", "timeout", "tries"],
  ["processes", "directory", "startsecs", "stopwaitsecs", "startretries", "stopsignal"],
] as const;

/** Channels of the account; they are managed elsewhere, and no operation lists them. */
const channels = [
  {
    id: 81,
    name: "On call",
    type: "chat_webhook",
    meta: { webhook: "https://chat…/9f", email: null },
  },
  { id: 8_000_000_000_082, name: "Post room", type: "email", meta: { email: "o…@example.com" } },
];

const showWorker = ({ id, settings, madeMs, status }: Worker) => ({
  // The process manager chooses omitted settings, so they are null here.
  ...Object.fromEntries(settable.flat().map((name) => [name, settings[name] ?? null])),
  id,
  command: `worker --queue=${String(settings["queue"])}`,
  status: status(),
  created_at: withOffset(madeMs),
  // Quarterdeck's field of this name is a list.
  process_list: "2 of 2",
});

function workerRoutes(isSite: IsSite, course: Course): Routes {
  const workers: Worker[] = [];
  const find = (id: number) => workers.find((one) => one.id === id);
  /** Accepts the request at once, but keeps showing the old state for a moment. */
  const become =
    (...words: string[]) =>
    ({ id }: { id: number }) => {
      const found = find(id);
      if (found === undefined) return notThere();
      found.status = course(found.status(), ...words);
      return nothing;
    };
  return {
    "GET /api/site/{id}/workers": (call) =>
      isSite(call.id) ? page(workers.map(showWorker), call) : notThere(),
    "GET /api/worker/{id}": ({ id }) => {
      const found = find(id);
      return found === undefined ? notThere() : wrapped(200, showWorker(found));
    },
    "POST /api/site/{id}/worker": ({ id: siteId, body }) => {
      if (!isSite(siteId)) return notThere();
      const unknown = Object.keys(body).filter(
        (name) => !settable.flat().some((one) => one === name),
      );
      const errors = {
        ...Object.fromEntries(unknown.map((name) => [name, "There is no such field."])),
        ...(body["connection"] === "nowhere" && { connection: "No connection of that name." }),
      };
      if (Object.keys(errors).length > 0)
        return problem(422, "The worker cannot be made like that.", { errors });
      const made: Worker = {
        id: nextId(),
        settings: body,
        madeMs: Date.now(),
        status: course("installing", "provisioning", "active"),
      };
      workers.push(made);
      return wrapped(201, showWorker(made));
    },
    "DELETE /api/worker/{id}/stop": become("halted"),
    "POST /api/worker/{id}/start": become("warming", "active"),
    "PUT /api/worker/{id}/restart": become("recycling", "active"),
    "DELETE /api/worker/{id}": ({ id }) => {
      const found = find(id);
      if (found === undefined) return notThere();
      workers.splice(workers.indexOf(found), 1);
      return nothing;
    },
  };
}

const showWebhook = ({ id, url, madeMs }: Webhook) => ({
  id,
  url,
  created_at: withMicroseconds(madeMs),
  status: "live",
  secret_hint: null,
});

function webhookRoutes(isSite: IsSite): Routes {
  const webhooks: Webhook[] = [];
  const find = (id: number) => webhooks.find((one) => one.id === id);
  return {
    "GET /api/site/{id}/webhooks": (call) =>
      isSite(call.id) ? page(webhooks.map(showWebhook), call) : notThere(),
    "GET /api/site-webhook/{id}": ({ id }) => {
      const found = find(id);
      return found === undefined ? notThere() : { status: 200, body: showWebhook(found) };
    },
    "POST /api/site/{id}/webhook": ({ id: siteId, body: { url } }) => {
      if (!isSite(siteId)) return notThere();
      if (!String(url).startsWith("https:"))
        return problem(400, "The request is not valid.", {
          "invalid-params": [{ name: "url", reason: "Only https is called." }],
        });
      const made: Webhook = { id: nextId(), url, madeMs: Date.now() };
      webhooks.push(made);
      return wrapped(201, showWebhook(made));
    },
    "DELETE /api/site-webhook/{id}": ({ id }) => {
      const found = find(id);
      if (found === undefined) return notThere();
      webhooks.splice(webhooks.indexOf(found), 1);
      return nothing;
    },
  };
}

function notificationRoutes(isSite: IsSite): Routes {
  let used = [channels[0]];
  return {
    "GET /api/site/{id}/notifications": (call) => (isSite(call.id) ? page(used, call) : notThere()),
    "PUT /api/site/{id}/notifications": ({ id: siteId, body }) => {
      if (!isSite(siteId)) return notThere();
      const ids: unknown[] = Array.isArray(body["channels"]) ? body["channels"] : [];
      const errors = ids.flatMap((id, index) =>
        channels.some((channel) => channel.id === id)
          ? []
          : [{ pointer: `#/channels/${index}`, detail: "No such channel." }],
      );
      if (errors.length > 0) return problem(422, "Nothing was changed.", { errors });
      used = channels.filter(({ id }) => ids.includes(id));
      return nothing;
    },
  };
}

export const siteRoutes = (isSite: IsSite, course: Course): Routes => ({
  ...workerRoutes(isSite, course),
  ...webhookRoutes(isSite),
  ...notificationRoutes(isSite),
});
