import { Button } from "../ui/Button.tsx";
import { Notice } from "../ui/Notice.tsx";

/** In place of a part of a page that does not come although the service responds. */
export const PartMissing = () => (
  <Notice tone="bad" isAlert actions={<Button onClick={() => location.reload()}>Reload</Button>}>
    Couldn't load this part of the page. Reload the page; a newer version may be installed.
  </Notice>
);
