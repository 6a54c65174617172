// `npm run dev`: the service, and the dashboard with hot reload in front of it.
import { createServer } from "vite";

const service = `http://127.0.0.1:${process.env["PORT"] ?? "4000"}`;
process.env["QUARTERDECK_DEV_SERVICE"] ??= service;

const dashboard = await createServer({ server: { port: 5173, strictPort: true } });
await dashboard.listen();
// What the service prints is then the address to open.
process.env["QUARTERDECK_PUBLIC_URL"] ??= "http://localhost:5173";
await import("../main.ts");
