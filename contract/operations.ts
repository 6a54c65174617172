// Every operation, one row each: those of the interface, and the extras. Start reading here. The dashboard's client is made from
// these rows; the routes and the OpenAPI description are made from `contract/served-operations.ts`, which adds the bodies.
import { backupOperations } from "./backups/operations.ts";
import { firstOperations } from "./first-operations.ts";
import { lateOperations } from "./late-operations.ts";
import { inventoryOperations } from "./inventory/operations.ts";
import { notificationExtras, notificationOperations } from "./notifications/operations.ts";
import { webhookExtras, webhookOperations } from "./webhooks/operations.ts";
import { workerExtras, workerOperations } from "./workers/operations.ts";

/** The 22 operations of the interface, which every service has. */
export const interfaceOperations = {
  ...backupOperations,
  ...workerOperations,
  ...webhookOperations,
  ...notificationOperations,
};

/**
 * All rows. A row that is not in `interfaceOperations` is an extra: a service may lack it, and a client must work without it.
 */
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
