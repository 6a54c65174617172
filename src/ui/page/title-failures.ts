// Number of failures for the title of every page; 0 = none, or unknown.
import { createStore } from "../../store.ts";

export const titleFailures = createStore(0);
