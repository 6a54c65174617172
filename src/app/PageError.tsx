// What stands in a page's place when it could not be loaded. What it says in full comes later than the first page, which
// does not need it.
import { lazy, Suspense, useEffect } from "react";
import { PageHeader } from "../ui/PageHeader.tsx";
import { whenReachable } from "./outage.ts";

/** Without even the code that explains an error there is one explanation. */
function Away() {
  useEffect(() => void whenReachable().then(() => location.reload()), []);
  return <PageHeader title="The service is not responding" />;
}

const ErrorPage = lazy(() =>
  import("./ErrorPage.tsx").then(
    ({ ErrorPage }) => ({ default: ErrorPage }),
    () => ({ default: Away }),
  ),
);

export const PageError = () => (
  <Suspense>
    <ErrorPage />
  </Suspense>
);
