// Creates a service with a supervisord of the test as its process manager.
import { expect } from "vitest";
import type { Page } from "../../../../contract/paging.ts";
import type { Worker } from "../../../../contract/workers/worker.ts";
import { createTestService, oneSite, type TestService } from "../../../testing/service.ts";
import { soon } from "../../../testing/soon.ts";
import type { TestSupervisord } from "./supervisord.ts";

export const createSupervisedService = ({ config }: TestSupervisord): Promise<TestService> =>
  createTestService({
    inventory: (folder) =>
      oneSite(folder).replace(
        "connection: local",
        `connection: local, supervisor: supervisord, supervisord_config: ${config}`,
      ),
  });

export const removeAllWorkers = (service: TestService): Promise<void> =>
  soon(async () => {
    const { body } = await service.json<Page<Worker>>("GET", "/api/site/1/workers");
    for (const { id } of body.data) await service.call("DELETE", `/api/worker/${id}`);
    expect(body.data).toEqual([]);
  });

export const workerBecomes = (
  service: TestService,
  id: number,
  wanted: Partial<Worker>,
): Promise<Worker> =>
  soon(async () => {
    const { body } = await service.json<Worker>("GET", `/api/worker/${id}`);
    expect(body).toMatchObject(wanted);
    return body;
  }, 90_000);
