// Serves the operations over HTTP. Every request passes the same steps: token, rate limit, what the path names, ability, query,
// body, response.
import { Hono, type Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Logger } from "pino";
import { abilityOf, type Operation } from "../../contract/operation.ts";
import { maxInteger } from "../../contract/inputs.ts";
import type { Peers } from "../instances/peers.ts";
import { actAs, theService } from "../activity/actor.ts";
import type { Authenticator } from "./authentication.ts";
import { createResponseWriter, type WriteResponse } from "./response.ts";
import type { ApiEnvironment } from "./every-request.ts";
import { FileResponse } from "./file-response.ts";
import { withProof } from "./link-proof.ts";
import { readFields, readJsonObject } from "./read-request.ts";
import { isFile, openUpload } from "./upload.ts";
import type { Caller, Route } from "./route.ts";
import { notFound, ServiceError, unauthorized } from "./service-error.ts";

type ApiOptions = {
  authenticator: Authenticator;
  routes: readonly Route[];
  /** The other instances, to which requests for their servers are passed on. */
  peers: Pick<Peers, "pass" | "originOf">;
  log: Logger;
  /** Public URL of the service, without a slash at the end; null = the URL of each request. */
  publicUrl: string | null;
  /** Whether a response that breaks its own schema is an error, or sent and logged. */
  invalidResponse: "fail" | "log";
};

export function createApi(options: ApiOptions): Hono<ApiEnvironment> {
  const { authenticator, peers } = options;
  const app = new Hono<ApiEnvironment>();
  const writeResponse = createResponseWriter(options.invalidResponse, options.log);

  for (const route of options.routes) {
    const { operation } = route;
    const serve = async (c: Context<ApiEnvironment>, caller: Caller) => {
      const params = readIds(c.req.param());
      const found = await route.find(params, caller);
      if (found === null) throw notFound();
      if (operation.isPublic !== true && !mayAsk(caller, operation)) throw unauthorized();
      const passed =
        route.runsOn === undefined
          ? null
          : await peers.pass(c, caller, await route.runsOn(found), route.isKnownWithout === true);
      if (passed !== null) return passed;
      const query = operation.query && (await readFields(operation.query, c.req.query()));
      const uploaded = isFile(c.req.raw) ? operation.upload : undefined;
      const isUpload = uploaded !== undefined;
      const check = (fields: object) => route.check({ params, fields, isUpload, found, caller });
      const upload = isUpload
        ? openUpload(c, await readFields(uploaded, c.req.query(), check))
        : null;
      const body =
        operation.body && !isUpload
          ? await readFields(operation.body, await readJsonObject(c.req.raw), check)
          : undefined;
      const origin = options.publicUrl ?? peers.originOf(c) ?? new URL(c.req.url).origin;
      const url = origin + c.req.path;
      const actor = operation.isPublic ? theService : { type: "token" as const, name: caller.name };
      const reply = await actAs(actor, () =>
        route.handle({ params, query, body, upload, found, caller, url, signal: c.req.raw.signal }),
      );

      if (reply.location !== undefined) c.header("Location", reply.location);
      if (reply.body instanceof FileResponse) return reply.body.toResponse(c);
      // Hono lists the statuses that exist, and the table has no others.
      const status = reply.status as ContentfulStatusCode;
      if (!operation.responses[status]) return c.body(null, status);
      const isKept = operation.method === "GET";
      return sendJson(c, writeResponse(operation, status, reply.body), status, isKept);
    };
    const identify = operation.takesCode ? authenticator.byCode : authenticator.byToken;
    app.on(operation.method, toHonoPath(operation.path), async (c) => {
      if (operation.isPublic) return authenticator.asNobody(c, (caller) => serve(c, caller));
      const response = await serve(c, await identify(c));
      // Here, because another instance may have sent the file.
      const [tag, proof] = [response.headers.get("ETag"), c.get("linkProof")];
      if (tag !== null && proof !== undefined) response.headers.set("ETag", withProof(tag, proof));
      return response;
    });
  }

  app.all("/api/*", async (c) => {
    await authenticator.byToken(c);
    const allowed = methodsAt(options.routes, c.req.path);
    if (allowed.length === 0) throw notFound();
    throw new ServiceError(
      "method_not_allowed",
      `The ${c.req.method} method is not supported here. Supported: ${allowed.join(", ")}.`,
      { Allow: allowed.join(", ") },
    );
  });
  return app;
}

const toHonoPath = (path: string) => path.replace(/\{(\w+)\}/g, ":$1");

const mayAsk = (caller: Caller, operation: Operation): boolean =>
  (abilityOf(operation) === "read" || caller.canChange) &&
  (operation.reach === undefined || caller.serverIds === null);

/** Parses the ids in a path. @throws ServiceError `not_found` where one of them is not a valid id */
function readIds(texts: Record<string, string>): Record<string, number> {
  const ids: Record<string, number> = {};
  for (const [name, text] of Object.entries(texts)) {
    const id = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : Infinity;
    if (id > maxInteger) throw notFound();
    ids[name] = id;
  }
  return ids;
}

/**
 * Sends JSON, or a 304 without a body if the client already has this response.
 * @param isKept whether the client may store the response and revalidate it
 */
async function sendJson(
  c: Context,
  response: ReturnType<WriteResponse>,
  status: ContentfulStatusCode,
  isKept: boolean,
): Promise<Response> {
  c.header("Content-Type", "application/json");
  if (!isKept) {
    c.header("Cache-Control", "no-store");
    return c.body(response.text, status);
  }
  const tag = `"${response.tag}"`;
  const size = Buffer.byteLength(response.text);
  const isPacked = size >= minPacked && takesGzip(c.req.header("Accept-Encoding"));
  // Weak, because the compressed and the plain text share the tag.
  c.header("ETag", isPacked ? `W/${tag}` : tag);
  // Browsers store responses and revalidate them at each poll; shared caches must not store them.
  c.header("Cache-Control", "private, no-cache");
  if (size >= minPacked) c.header("Vary", "Accept-Encoding", { append: true });
  const known = c.req.header("If-None-Match")?.split(/\s*,\s*/) ?? [];
  if (known.some((entry) => entry === "*" || entry.replace(/^W\//, "") === tag))
    return c.body(null, 304);
  if (isPacked) {
    const packed = await response.pack();
    c.header("Content-Encoding", "gzip");
    c.header("Content-Length", String(packed.length));
    return c.body(packed, status);
  }
  // The compressing middleware reads this header, and skips small responses.
  c.header("Content-Length", String(size));
  return c.body(response.text, status);
}

/** Minimum size to compress, in bytes: compressing a smaller response costs more than it saves. */
const minPacked = 1024;

/** Whether gzip is named without a weight, as browsers do. For other forms, the middleware decides. */
const takesGzip = (accepted = ""): boolean =>
  accepted.split(",").some((encoding) => encoding.trim().toLowerCase() === "gzip");

function methodsAt(routes: readonly Route[], path: string): string[] {
  const methods = routes
    .filter(({ operation }) =>
      new RegExp(`^${operation.path.replace(/\{\w+\}/g, "[^/]+")}$`).test(path),
    )
    .map(({ operation }) => operation.method);
  return methods.includes("GET") ? [...methods, "HEAD"] : methods;
}
