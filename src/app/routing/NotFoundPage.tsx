import { paths } from "../../paths.ts";
import { PageHeader } from "../../ui/page/PageHeader.tsx";
import { LinkButton } from "../LinkButton.tsx";

export function NotFoundPage() {
  return (
    <>
      <PageHeader title="Not found" />
      <p className="text-muted">The page doesn't exist.</p>
      <div>
        <LinkButton to={paths.home()}>All servers</LinkButton>
      </div>
    </>
  );
}
