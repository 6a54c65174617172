import {
  type DataRouter,
  type RouteObject,
  UNSAFE_createBrowserHistory,
  UNSAFE_createRouter,
  UNSAFE_defaultMapRouteProperties,
  UNSAFE_hydrationRouteProperties,
} from "react-router";

/**
 * What the router's own `createBrowserRouter` does, without the links and forms that stand in one file with it: those would
 * be 3 % of all code before the first list, and of no use here (`Link.tsx`).
 * @returns it has begun to load the page of the address
 */
export const createRouter = (routes: RouteObject[]): DataRouter =>
  UNSAFE_createRouter({
    routes,
    history: UNSAFE_createBrowserHistory(),
    mapRouteProperties: UNSAFE_defaultMapRouteProperties,
    hydrationRouteProperties: UNSAFE_hydrationRouteProperties,
  }).initialize();
