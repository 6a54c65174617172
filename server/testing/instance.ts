// Describes an instance of the service that may share its database with others.
import { randomUUID } from "node:crypto";
import type { Instance } from "../instances/life.ts";

export const oneOfMany: Instance = {
  name: "test",
  home: randomUUID(),
  role: "all",
  address: "http://127.0.0.1:1",
  version: "0.0.0",
};
