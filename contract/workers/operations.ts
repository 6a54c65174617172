// The workers' operations: their rows of the table `contract/operations.ts`.
import { operation } from "../operation.ts";
import { filteredListOf } from "../paging.ts";
import { workerUsage } from "./usage.ts";
import { worker, workerLog } from "./worker.ts";

/** The operations of the interface. */
export const workerOperations = {
  listWorkers: operation({
    tag: "workers",
    path: "/api/site/{id}/workers",
    ...filteredListOf(worker),
  }),
  showWorker: operation({
    tag: "workers",
    method: "GET",
    path: "/api/worker/{id}",
    responses: { 200: worker },
  }),
  createWorker: operation({
    tag: "workers",
    method: "POST",
    path: "/api/site/{id}/worker",
    responses: { 201: worker },
  }),
  stopWorker: operation({
    tag: "workers",
    method: "DELETE",
    path: "/api/worker/{id}/stop",
    responses: { 204: null },
  }),
  startWorker: operation({
    tag: "workers",
    method: "POST",
    path: "/api/worker/{id}/start",
    responses: { 204: null },
  }),
  restartWorker: operation({
    tag: "workers",
    method: "PUT",
    path: "/api/worker/{id}/restart",
    responses: { 204: null },
  }),
  deleteWorker: operation({
    tag: "workers",
    method: "DELETE",
    path: "/api/worker/{id}",
    responses: { 204: null },
  }),
};

export const workerExtras = {
  showWorkerUsage: operation({
    tag: "workers",
    method: "GET",
    path: "/api/worker/{id}/usage",
    responses: { 200: workerUsage },
  }),
  updateWorker: operation({
    tag: "workers",
    method: "PUT",
    path: "/api/worker/{id}",
    responses: { 200: worker },
  }),
  withdrawWorkerOrder: operation({
    tag: "workers",
    method: "DELETE",
    path: "/api/worker/{id}/pending",
    responses: { 204: null },
  }),
  showWorkerLog: operation({
    tag: "workers",
    method: "GET",
    path: "/api/worker/{id}/log",
    responses: { 200: workerLog },
  }),
};
