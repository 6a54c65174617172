// `npm run dev`: the service, and the dashboard with hot reload in front of it.
import { createServer } from "vite";
import { handOver, takeEnvironment } from "../environment/handover.ts";
import { startWithSeed } from "./seed/seed.ts";

handOver(process);
const environment = takeEnvironment(process);
const service = `http://127.0.0.1:${environment["PORT"] ?? "4000"}`;
process.env["QUARTERDECK_DEV_SERVICE"] ??= service;

const dashboard = await createServer({ server: { port: 5173, strictPort: true } });
await dashboard.listen();
// Makes the service print the address to open.
environment["QUARTERDECK_PUBLIC_URL"] ??= "http://localhost:5173";
await startWithSeed(process, environment, () => import("../main.ts"));
