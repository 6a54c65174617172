// The dashboard's built files, and the headers that fence them in.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";
import { secureHeaders } from "hono/secure-headers";
import type { ApiEnvironment } from "./every-request.ts";

/** The scripts that stand in the page itself, as its policy names them. */
function inlineScripts(folder: string): string[] {
  const html = readFileSync(join(folder, "index.html"), "utf8");
  return [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
    ([, script = ""]) => `'sha256-${createHash("sha256").update(script).digest("base64")}'`,
  );
}

/** @param folder where `vite build` put the dashboard; null = there is none */
export function createDashboard(folder: string | null): Hono<ApiEnvironment> {
  const app = new Hono<ApiEnvironment>();
  app.use(
    secureHeaders({
      contentSecurityPolicy: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'", ...(folder === null ? [] : inlineScripts(folder))],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", "data:"],
        fontSrc: ["'self'"],
        manifestSrc: ["'self'"],
        // The connect page takes the address of any service that speaks the interface.
        connectSrc: ["*"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
      },
      // Whether the browser must use https is for whoever ends TLS to say.
      strictTransportSecurity: false,
      // Every response has it, not only the dashboard's.
      xContentTypeOptions: false,
      xFrameOptions: "DENY",
      referrerPolicy: "no-referrer",
    }),
  );
  if (folder === null) {
    app.get("/", (c) => c.json({ message: "The dashboard is not built. Run: npm start" }, 404));
    return app;
  }
  app.use("/assets/*", async (c, next) => {
    await next();
    // Their names change with their content.
    if (c.res.ok) c.header("Cache-Control", "public, max-age=31536000, immutable");
  });
  app.get("*", serveStatic({ root: folder, precompressed: true }));
  // A program that asks for JSON gets no page: what is not there is an error in JSON.
  app.get("*", async (c, next) => {
    const accept = c.req.header("Accept") ?? "";
    const isProgram = accept.includes("application/json") && !accept.includes("text/html");
    if (isProgram || c.req.path.startsWith("/assets/")) return c.notFound();
    await next();
  });
  app.get("*", async (c, next) => {
    // Every other address is a page of the dashboard, and its router knows which.
    await next();
    c.header("Cache-Control", "no-cache");
  });
  app.get("*", serveStatic({ path: join(folder, "index.html"), precompressed: true }));
  return app;
}
