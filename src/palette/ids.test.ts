import { expect, test } from "vitest";
import { idEntries } from "./ids.ts";

const everywhere = () => true;
const goals = (text: string, isThere: Parameters<typeof idEntries>[1] = everywhere) =>
  idEntries(text, isThere).map(({ label, key }) => `${label} ${key}`);

test.each([
  ["worker 12", "Worker 12 /workers/12"],
  [" Worker #12 ", "Worker 12 /workers/12"],
  ["worker12", "Worker 12 /workers/12"],
  ["backup 12", "Backup 12 /backups/12"],
  ["webhook 12", "Webhook 12 /webhooks/12"],
  ["configuration 4", "Configuration 4 /backup-configurations/4"],
  ["backup configuration 4", "Configuration 4 /backup-configurations/4"],
  ["site 3", "Site 3 /sites/3/workers"],
  ["server 2", "Server 2 /servers/2/backups"],
])("“%s” finds its object", (text, goal) => {
  expect(goals(text)).toEqual([goal]);
});

test.each(["12", "#12"])("“%s” may be an object of any kind", (text) => {
  expect(idEntries(text, everywhere).map(({ label }) => label)).toEqual([
    "Worker 12",
    "Backup 12",
    "Webhook 12",
    "Configuration 12",
    "Site 12",
    "Server 12",
  ]);
});

test("does not offer a site or server that is known not to exist", () => {
  expect(goals("site 3", () => false)).toEqual([]);
  expect(goals("12", (kind) => kind === "site")).not.toContain("Server 12 /servers/12/backups");
});

test.each(["", "0", "007", "12 workers", "web 2", "1.5", "worker", "12345678901234567"])(
  "“%s” is not an id",
  (text) => {
    expect(goals(text)).toEqual([]);
  },
);
