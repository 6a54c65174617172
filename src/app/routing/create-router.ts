import {
  type DataRouter,
  type RouteObject,
  UNSAFE_createBrowserHistory,
  UNSAFE_createRouter,
  UNSAFE_defaultMapRouteProperties,
  UNSAFE_hydrationRouteProperties,
} from "react-router";

/**
 * Replaces the router's own `createBrowserRouter`, whose file includes links and forms: those would be 3 % of all code
 * before the first list, and are not needed (`Link.tsx`).
 * @returns a router that is already loading the page of the address
 */
export const createRouter = (routes: RouteObject[]): DataRouter =>
  UNSAFE_createRouter({
    routes,
    history: UNSAFE_createBrowserHistory(),
    mapRouteProperties: UNSAFE_defaultMapRouteProperties,
    hydrationRouteProperties: UNSAFE_hydrationRouteProperties,
  }).initialize();
