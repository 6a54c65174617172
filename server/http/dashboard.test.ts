import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { precompress } from "../setup/vite/precompressed.ts";
import { createDashboard } from "./dashboard.ts";

const script = "start()";
const styles = "body{margin:0}";
// Large enough for both encodings.
const code = "export const answer = 42;\n".repeat(700);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "quarterdeck-dashboard-"));
  await mkdir(join(folder, "assets"));
  await writeFile(
    join(folder, "index.html"),
    `<script type="module" crossorigin src="/assets/index.js"></script><script>${script}</script><style>${styles}</style>`,
  );
  await writeFile(join(folder, "assets/index.js"), code);
  await precompress(folder);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const get = (path: string, encodings = "") =>
  createDashboard(folder).request(path, { headers: { "Accept-Encoding": encodings } });

const hashOf = (content: string) => createHash("sha256").update(content).digest("base64");

test("the content security policy allows inline parts of the page by their hashes, and nothing else", async () => {
  const policy = (await get("/servers/1/backups")).headers.get("content-security-policy") ?? "";
  expect(policy).toContain(`script-src 'self' 'sha256-${hashOf(script)}';`);
  expect(policy).toContain(`style-src 'self' 'sha256-${hashOf(styles)}';`);
  expect(policy).not.toContain("unsafe");
});

test("serves files in an encoding that the browser accepts: brotli, gzip, or none", async () => {
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

test.each(["/", "/servers/1/backups"])(
  "%s is revalidated each time, answered with 304 if unchanged, and preloads its first file",
  async (path) => {
    const { headers } = await get(path, "br");
    expect(headers.get("cache-control")).toBe("no-cache");
    expect(headers.get("link")).toBe("</assets/index.js>; rel=modulepreload");
    const again = await createDashboard(folder).request(path, {
      headers: { "Accept-Encoding": "br", "If-None-Match": headers.get("etag") ?? "" },
    });
    expect(again.status).toBe(304);
    expect(again.headers.get("content-security-policy")).toContain("script-src");
  },
);
