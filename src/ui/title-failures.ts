// How many things fail, for the title of every page; 0 = none, or nobody knows.
import { createStore } from "../store.ts";

export const titleFailures = createStore(0);
