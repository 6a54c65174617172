// What stands in a page's place when it could not be loaded: what, why, and what to do.
import { useQueryErrorResetBoundary } from "@tanstack/react-query";
import { isRouteErrorResponse, useRevalidator, useRouteError } from "react-router";
import { ApiError, isPassing } from "../api/api-error.ts";
import { paths } from "../paths.ts";
import { Button } from "../ui/Button.tsx";
import { PageHeader } from "../ui/PageHeader.tsx";
import { RequestId } from "../ui/RequestId.tsx";
import { LinkButton } from "./LinkButton.tsx";

type Explanation = { title: string; text: string; way: "retry" | "reload" | "elsewhere" };

function explain(error: unknown): Explanation {
  if (isRouteErrorResponse(error) && error.status === 404) return notFound;
  if (!(error instanceof ApiError))
    return {
      title: "This page did not work",
      text: "Reloading usually helps, most of all after an update of Quarterdeck.",
      way: "reload",
    };
  if (error.status === 404) return notFound;
  if (error.status === "unreachable")
    return {
      title: "The service does not answer",
      text: "It may be stopped, starting, or out of reach from here.",
      way: "retry",
    };
  if (error.status === 403)
    return { title: "Not allowed", text: "Your token may not see this page.", way: "elsewhere" };
  return {
    title: "This page did not load",
    text: error.message,
    way: isPassing(error) ? "retry" : "reload",
  };
}

const notFound: Explanation = {
  title: "Not found",
  text: "There is nothing here. It may have been deleted, or the address is mistyped.",
  way: "elsewhere",
};

export function ErrorPage() {
  const error = useRouteError();
  const revalidator = useRevalidator();
  const { reset } = useQueryErrorResetBoundary();
  const { title, text, way } = explain(error);
  const { requestId, status } =
    error instanceof ApiError ? error : { requestId: null, status: null };
  const retry = () => {
    reset();
    void revalidator.revalidate();
  };
  return (
    <>
      <PageHeader title={title} />
      <p className="max-w-prose text-muted">{text}</p>
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
        <LinkButton to={paths.home()}>All servers</LinkButton>
      </div>
    </>
  );
}
