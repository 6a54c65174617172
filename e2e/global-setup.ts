// The dashboard is built once; the services of all workers then serve the same files.
import { buildDashboard } from "../server/setup/build.ts";

export default buildDashboard;
