import { matchRoutes, type RouteObject } from "react-router";
import { beforeAll, expect, test, vi } from "vitest";
import { preloadedPages, preloadFor } from "./pages.ts";

let routes: RouteObject[];

beforeAll(async () => {
  vi.stubGlobal("location", { hash: "", href: "http://localhost/", host: "localhost" });
  ({ routes } = await import("../routes.tsx"));
});

test.each(preloadedPages.map(({ path }) => path))("%s is a page of the dashboard", (path) => {
  const matches = matchRoutes(routes, path.replace(":id", "7"));
  expect(matches?.at(-1)?.route.path).toBe(path);
});

test("requests the page's own data, and that of the navigation if it is shown", () => {
  expect(preloadFor("/sites/7/workers", "", false)?.asks).toEqual([
    "/api/site/7/workers?sort=attention",
    "/api/site/7",
  ]);
  expect(preloadFor("/", "", false)?.asks).toEqual(["/api/overview"]);
  expect(preloadFor("/sites/7/workers", "", true)).toEqual({
    module: "workers/WorkersPage.tsx",
    asks: ["/api/site/7/workers?sort=attention", "/api/site/7", "/api/overview"],
  });
});

test("leaves data that depends on the query of the URL to the loader", () => {
  expect(preloadFor("/sites/7/workers", "?page=2", true)?.asks).toEqual(["/api/overview"]);
});

test.each(["/connect", "/sites/0/workers", "/sites/x/workers", "/sites/7/workers/new", "/nothing"])(
  "has nothing for %s",
  (path) => expect(preloadFor(path, "", true)).toBeNull(),
);
