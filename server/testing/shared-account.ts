// Starts a service that shares its account with the code of its sites, which never holds for root, to test what the
// dashboard shows then. `DATABASE_URL` is the URL of its database.
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { createApp } from "../app.ts";
import { systemClock } from "../clock.ts";
import { createAllowedHosts } from "../http/allowed-hosts.ts";
import { listen } from "../http/listen.ts";
import { createLog } from "../log.ts";
import { workerEnvironment } from "../workers/environment.ts";
import { portOf } from "./port-of.ts";

const {
  QUARTERDECK_DATA: dataFolder = "",
  QUARTERDECK_TOKEN: token = "",
  DATABASE_URL: connectionString = "",
} = process.env;
const log = createLog("info");
const app = await createApp({
  connection: { connectionString },
  instance: null,
  dataFolder,
  inventoryFile: `${dataFolder}/inventory.yaml`,
  isInventoryReadOnly: false,
  token,
  rateLimit: 0,
  publicUrl: null,
  isAllowedHost: createAllowedHosts({ listensOn: "127.0.0.1", publicUrl: null, machineName: "" }),
  allow: null,
  smtp: null,
  keepDays: 90,
  dashboardFolder: fileURLToPath(new URL("../../dist", import.meta.url)),
  secrets: {},
  reservedAccounts: [],
  workerEnvironment: workerEnvironment(process.env, dirname(process.execPath)),
  invalidResponse: "fail",
  secondConnection: "fail",
  version: "0.1.0",
  nodeVersion: process.version,
  account: { name: "deploy", isRoot: false },
  clock: systemClock,
  log,
});
const server = await listen(app.fetch, 0, "127.0.0.1");
process.once("SIGINT", () => {
  server.close();
  void app.close("stop").then(() => process.exit());
});
log.info({ url: `http://localhost:${portOf(server)}/` }, "ready");
