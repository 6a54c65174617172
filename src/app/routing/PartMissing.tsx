import { Button } from "../../ui/button/Button.tsx";
import { Notice } from "../../ui/feedback/Notice.tsx";

/** Shown instead of a part of a page that cannot be loaded although the service responds. */
export const PartMissing = () => (
  <Notice tone="bad" isAlert actions={<Button onClick={() => location.reload()}>Reload</Button>}>
    Couldn't load this part of the page. Reload the page; a newer version may be installed.
  </Notice>
);
