// Shown instead of a page that could not be loaded: what happened, why, and what to do.
import { useQueryErrorResetBoundary } from "@tanstack/react-query";
import { useEffect } from "react";
import { isRouteErrorResponse, useLocation, useRevalidator, useRouteError } from "react-router";
import { ApiError, hasStatus, isPassing } from "../../api/api-error.ts";
import { paths } from "../../paths.ts";
import { useStore } from "../../store.ts";
import { Button } from "../../ui/button/Button.tsx";
import { PageHeader } from "../../ui/page/PageHeader.tsx";
import { RequestId } from "../../ui/text/RequestId.tsx";
import { LinkButton } from "../LinkButton.tsx";
import { isMissingPart, outage, whenReachable } from "../shell/outage.ts";
import { missingAt } from "./missing-object.ts";
import { focusLateHeading } from "./page-change.ts";

type Explanation = { title: string; text: string; way: "retry" | "reload" | "elsewhere" };

function explain(error: unknown, isAway: boolean): Explanation {
  if (isRouteErrorResponse(error) && error.status === 404) return notFound;
  if (isAway || (error instanceof ApiError && error.status === "unreachable"))
    return {
      title: "The service is not responding",
      text: "The service may be stopped, starting or unreachable from this browser. The page opens as soon as it responds.",
      way: "retry",
    };
  if (isMissingPart(error))
    return {
      title: "Quarterdeck was updated",
      text: "Reload the page to use the new version.",
      way: "reload",
    };
  if (!(error instanceof ApiError))
    return {
      title: "Something went wrong",
      text: "Something went wrong in the dashboard. Reload the page.",
      way: "reload",
    };
  if (error.status === 404) return notFound;
  if (error.status === 403)
    return {
      title: "Not allowed",
      text: "Your token doesn't have permission to view this page. Connect with one that does.",
      way: "elsewhere",
    };
  return {
    title: "Couldn't load the page",
    text: error.message,
    way: isPassing(error) ? "retry" : "reload",
  };
}

const notFound: Explanation = {
  title: "Not found",
  text: "The page doesn't exist. The item may have been deleted, or the address may be wrong.",
  way: "elsewhere",
};

/** A page that was loaded less than this long ago is not reloaded: the part would be missing again. */
const reloadSoonMs = 10_000;

export function ErrorPage() {
  const error = useRouteError();
  const revalidator = useRevalidator();
  const { reset } = useQueryErrorResetBoundary();
  const isAway = useStore(outage) !== null;
  const isPart = isMissingPart(error);
  const { title, text, way } = explain(error, isAway);
  const { pathname } = useLocation();
  const missing = hasStatus(error, 404) ? missingAt(pathname) : null;
  const { requestId, status } =
    error instanceof ApiError ? error : { requestId: null, status: null };
  const retry = () => {
    // Some browsers cache the failure of a module.
    if (isPart) return location.reload();
    reset();
    void revalidator.revalidate();
  };
  useEffect(focusLateHeading, []);
  useEffect(() => {
    let isShown = true;
    if (isPart || isPassing(error))
      void (async () => {
        const wasAway = await whenReachable();
        if (isShown && (wasAway || (isPart && performance.now() > reloadSoonMs))) retry();
      })();
    return () => {
      isShown = false;
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- once for each error, whatever else is rendered meanwhile
  }, [error]);
  return (
    <>
      <PageHeader title={title} />
      <p className="max-w-prose text-muted">
        {missing === null
          ? text
          : `${missing.name} doesn't exist. It may have been deleted, or the address may be wrong.`}
      </p>
      {requestId !== null && status !== 404 && <RequestId id={requestId} />}
      <div className="flex gap-2">
        {way === "retry" && (
          <Button variant="primary" isPending={revalidator.state === "loading"} onClick={retry}>
            Try again
          </Button>
        )}
        {way === "reload" && (
          <Button variant="primary" onClick={() => location.reload()}>
            Reload
          </Button>
        )}
        {missing?.back && <LinkButton to={missing.back.to}>{missing.back.label}</LinkButton>}
        <LinkButton to={paths.home()}>All servers</LinkButton>
      </div>
    </>
  );
}
