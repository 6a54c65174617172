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
      title: "Something went wrong",
      text: "Reload the page. This often happens after an update of Quarterdeck.",
      way: "reload",
    };
  if (error.status === 404) return notFound;
  if (error.status === "unreachable")
    return {
      title: "The service is not responding",
      text: "The service may be stopped, starting or unreachable from this browser.",
      way: "retry",
    };
  if (error.status === 403)
    return {
      title: "Not allowed",
      text: "Your token doesn't have permission to view this page.",
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
