// What lies above a page, and the ring around what has the focus.
import { useState } from "react";
import { Button } from "../ui/Button.tsx";
import { Checkbox } from "../ui/Checkbox.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Input } from "../ui/Input.tsx";
import { Sample } from "./Sample.tsx";

export function Layers() {
  const [isOpen, setIsOpen] = useState(false);
  const close = () => setIsOpen(false);
  return (
    <>
      <Sample name="Dialog">
        <Button onClick={() => setIsOpen(true)}>Open dialog</Button>
        {isOpen && (
          <Dialog
            title="Delete worker 7?"
            onClose={close}
            actions={
              <>
                <Button onClick={close}>Cancel</Button>
                <Button variant="danger" onClick={close}>
                  Delete worker
                </Button>
              </>
            }
          >
            Its 3 processes end the job at hand, then they are gone.
          </Dialog>
        )}
      </Sample>
      <Sample name="Tooltip">
        <Button tip="A tip, above what it belongs to">Tip</Button>
      </Sample>
      <Sample name="Focus">
        <Button>Focus</Button>
        <Checkbox aria-label="Focus" />
        <Input aria-label="Focus" defaultValue="Focus" />
      </Sample>
    </>
  );
}
