import type { RouteObject } from "react-router";
import { expect, test, vi } from "vitest";
import { placeOf, prepare } from "./prefetch.ts";

const here = "https://ops.example.com/servers/1/backups";

test.each([
  ["https://elsewhere.example.com/", null],
  ["mailto:ops@example.com", null],
  [here, null],
  [`${here}#main`, null],
  [`${here}?page=2`, "/servers/1/backups"],
  ["/workers/7", "/workers/7"],
])("%s leads to %s", (href, pathname) =>
  expect(placeOf(href, here)?.pathname ?? null).toBe(pathname),
);

test("loads a page's code and data in parallel, and ignores a failure", async () => {
  const loader = vi.fn<(args: { request: Request; params: object }) => Promise<null>>(async () => {
    throw new Error("gone");
  });
  const Component = vi.fn<() => Promise<() => null>>(async () => () => null);
  const routes: RouteObject[] = [{ path: "/workers/:id", loader, lazy: { Component } }];
  await prepare(routes, "/workers/7?page=2", here);
  expect(Component).toHaveBeenCalledOnce();
  const [{ request, params } = { request: null, params: null }] = loader.mock.calls[0] ?? [];
  expect(params).toEqual({ id: "7" });
  expect(request?.url).toBe("https://ops.example.com/workers/7?page=2");
});
