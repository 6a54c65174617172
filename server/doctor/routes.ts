import { servedOperations } from "../../contract/served-operations.ts";
import { nothingToFind, reply, route, type Route } from "../http/route.ts";
import type { DoctorService } from "./service.ts";

export const doctorRoutes = (doctor: DoctorService): Route[] => [
  route(servedOperations.checkInstallation, {
    find: nothingToFind,
    handle: async () => reply(200, { results: await doctor.check() }),
  }),
];
