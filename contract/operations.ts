// Every operation of the interface and every extra, one row each: the table of each room, and what belongs to none. Start
// reading here. The client is made from these rows; with their bodies, in `contract/served-operations.ts`, so are the
// routes and the interface description.
import { backupOperations } from "./backups/operations.ts";
import { firstOperations } from "./first-operations.ts";
import { lateOperations } from "./late-operations.ts";
import { inventoryOperations } from "./inventory/operations.ts";
import { notificationExtras, notificationOperations } from "./notifications/operations.ts";
import { webhookExtras, webhookOperations } from "./webhooks/operations.ts";
import { workerExtras, workerOperations } from "./workers/operations.ts";

/** The interface's 22 operations. Every service has them. */
export const interfaceOperations = {
  ...backupOperations,
  ...workerOperations,
  ...webhookOperations,
  ...notificationOperations,
};

/** All rows. What is not in `interfaceOperations` is an extra, and a client must do without it. */
export const operations = {
  ...interfaceOperations,
  ...firstOperations,
  ...workerExtras,
  ...webhookExtras,
  ...notificationExtras,
  ...lateOperations,
  ...inventoryOperations,
};
export type OperationName = keyof typeof operations;
