// The pages that a server or a site has.
import { paths } from "../paths.ts";
import { type Entry, toPage } from "./entry.ts";

type Named = { id: number; name: string };

export const serverPages = ({ id, name }: Named): Entry[] => [
  toPage("backup", `${name} backups`, `Server ${id}`, paths.backups(id)),
  toPage("bell", `${name} notifications`, `Server ${id}`, paths.serverNotifications(id)),
  toPage("server", `${name} server`, `Server ${id}`, paths.server(id)),
  toPage("plus", `New backup on ${name}`, "", paths.newBackupConfiguration(id)),
];

export const sitePages = ({ id, name }: Named): Entry[] => [
  toPage("restart", `${name} workers`, `Site ${id}`, paths.workers(id)),
  toPage("webhook", `${name} webhooks`, `Site ${id}`, paths.webhooks(id)),
  toPage("bell", `${name} notifications`, `Site ${id}`, paths.notifications(id)),
  toPage("plus", `New worker on ${name}`, "", paths.newWorker(id)),
  toPage("plus", `New webhook on ${name}`, "", paths.newWebhook(id)),
];
