// Shown instead of a page that could not be loaded. The full explanation is loaded on demand, because the first page
// does not need it.
import { lazy, Suspense, useEffect } from "react";
import { PageHeader } from "../../ui/page/PageHeader.tsx";
import { whenReachable } from "../shell/outage.ts";

/** Where even the code of the error page cannot be loaded, the service is down. */
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
