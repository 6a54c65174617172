import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { precompress } from "../setup/vite/precompressed.ts";
import { createDashboard } from "./dashboard.ts";

const script = "start()";
const code = "export const answer = 42;\n".repeat(50);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "quarterdeck-dashboard-"));
  await mkdir(join(folder, "assets"));
  await writeFile(
    join(folder, "index.html"),
    `<script>${script}</script><script type="module" src="/assets/index.js"></script>`,
  );
  await writeFile(join(folder, "assets/index.js"), code);
  await precompress(folder);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const get = (path: string, encodings = "") =>
  createDashboard(folder).request(path, { headers: { "Accept-Encoding": encodings } });

test("the policy names the page's own script by its hash, and allows no other", async () => {
  const policy = (await get("/servers/1/backups")).headers.get("content-security-policy") ?? "";
  const hash = createHash("sha256").update(script).digest("base64");
  expect(policy).toContain(`script-src 'self' 'sha256-${hash}';`);
  expect(policy).not.toContain("unsafe");
});

test("files come as the browser can take them: brotli, gzip, or as they are", async () => {
  const sizes: number[] = [];
  for (const encoding of ["br", "gzip", ""]) {
    const response = await get("/assets/index.js", encoding === "br" ? "gzip, br" : encoding);
    expect(response.headers.get("content-encoding") ?? "").toBe(encoding);
    expect(response.headers.get("cache-control")).toContain("immutable");
    sizes.push((await response.arrayBuffer()).byteLength);
  }
  expect(sizes).toEqual(sizes.toSorted((a, b) => a - b));
  expect(sizes[2]).toBe(code.length);
});
