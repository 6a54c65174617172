// Serves the dashboard's built files, with their security headers.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";
import { every } from "hono/combine";
import { etag } from "hono/etag";
import { secureHeaders } from "hono/secure-headers";
import type { ApiEnvironment } from "./every-request.ts";

const readPage = (folder: string): string => readFileSync(join(folder, "index.html"), "utf8");

/** Returns the hashes of the page's inline elements, as its Content-Security-Policy lists them. */
function inlined(folder: string, element: "script" | "style"): string[] {
  return [
    ...readPage(folder).matchAll(new RegExp(`<${element}>([\\s\\S]*?)</${element}>`, "g")),
  ].map(([, content = ""]) => `'sha256-${createHash("sha256").update(content).digest("base64")}'`);
}

/** Returns the `Link` header with which a browser preloads the page's first script before it parses the page. */
function firstFile(folder: string): string | undefined {
  const [, path] = /<script type="module"[^>]* src="([^"]+)"/.exec(readPage(folder)) ?? [];
  return path && `<${path}>; rel=modulepreload`;
}

/** Responds with the reason why there is no dashboard. */
export const withoutDashboard = (message: string): Hono<ApiEnvironment> =>
  new Hono<ApiEnvironment>().get("/", (c) => c.json({ message }, 404));

/** @param folder where `vite build` put the dashboard; null = there is none */
export function createDashboard(folder: string | null): Hono<ApiEnvironment> {
  if (folder === null) return withoutDashboard("The dashboard is not built. Run: npm start");
  const app = new Hono<ApiEnvironment>();
  app.use(
    secureHeaders({
      contentSecurityPolicy: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'", ...inlined(folder, "script")],
        styleSrc: ["'self'", ...inlined(folder, "style")],
        imgSrc: ["'self'", "data:"],
        fontSrc: ["'self'"],
        manifestSrc: ["'self'"],
        // The connect page takes the address of any service that speaks the interface.
        connectSrc: ["*"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
      },
      // The proxy that terminates TLS decides whether browsers must use https.
      strictTransportSecurity: false,
      // `everyRequest` adds it to all responses.
      xContentTypeOptions: false,
      xFrameOptions: "DENY",
      referrerPolicy: "no-referrer",
    }),
  );
  app.use("/assets/*", async (c, next) => {
    await next();
    // The names of these files change with their content.
    if (c.res.ok) c.header("Cache-Control", "public, max-age=31536000, immutable");
  });
  const first = firstFile(folder);
  const page = every(
    etag(),
    async (c, next) => {
      await next();
      c.header("Cache-Control", "no-cache");
      c.header("Link", first);
    },
    serveStatic({ path: join(folder, "index.html"), precompressed: true }),
  );
  app.get("/", page);
  app.get("*", serveStatic({ root: folder, precompressed: true }));
  // For an asset that does not exist, and for a client that accepts JSON but not HTML, the response is a 404 in JSON.
  app.get("*", async (c, next) => {
    const accept = c.req.header("Accept") ?? "";
    const isProgram = accept.includes("application/json") && !accept.includes("text/html");
    if (isProgram || c.req.path.startsWith("/assets/")) return c.notFound();
    await next();
  });
  // All other paths are pages, which the dashboard's router resolves.
  app.get("*", page);
  return app;
}
