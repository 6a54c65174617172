import { createContext } from "react";
import type { DataRouter } from "react-router";

/**
 * The router itself, which never changes. The router's own hooks follow the address: with them, each link on screen
 * would render again with each letter of a filter.
 */
export const RouterContext = createContext<DataRouter | null>(null);
