// Samples of layers above a page, of keys that open them, and of focus rings.
import { useState } from "react";
import { Button } from "../ui/button/Button.tsx";
import { Checkbox } from "../ui/form/Checkbox.tsx";
import { Dialog } from "../ui/dialog/Dialog.tsx";
import { Icon } from "../ui/Icon.tsx";
import { IdText } from "../ui/text/IdText.tsx";
import { Input } from "../ui/form/Input.tsx";
import { Key } from "../ui/text/Key.tsx";
import { OptionList } from "../ui/dialog/OptionList.tsx";
import { RequestId } from "../ui/text/RequestId.tsx";
import { SearchButton } from "../ui/button/SearchButton.tsx";
import { SearchDialog } from "../ui/dialog/SearchDialog.tsx";
import { SearchInput } from "../ui/form/SearchInput.tsx";
import { Sample } from "./Sample.tsx";

const options = ["First", "Second", "Not now"].map((label, index) => ({
  id: `option-${index}`,
  icon: <Icon name="server" />,
  label,
  detail: "Detail",
  isDisabled: index === 2,
  hasMore: false,
}));

function Search({ onClose }: { onClose: () => void }) {
  return (
    <SearchDialog label="Search" onClose={onClose}>
      <SearchInput aria-label="Search" placeholder="Search" aria-controls="options" aria-expanded />
      <OptionList
        id="options"
        label="Found"
        groups={[{ id: "group", label: "Group", note: "3 of 3", options }]}
        activeId="option-1"
        onPoint={() => {}}
        onChoose={onClose}
        onMore={onClose}
      />
    </SearchDialog>
  );
}

export function Layers() {
  const [open, setOpen] = useState<"dialog" | "search" | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      <Sample name="Dialog">
        <Button onClick={() => setOpen("dialog")}>Open dialog</Button>
        {open === "dialog" && (
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
      <Sample name="SearchDialog, Key">
        <SearchButton label="Open search" hint="Ctrl K" onClick={() => setOpen("search")} />
        <Key isRead>?</Key>
        {open === "search" && <Search onClose={close} />}
      </Sample>
      <Sample name="RequestId, IdText">
        <RequestId id="01a2b3c4" />
        <IdText id={1234567890123456} />
      </Sample>
      <Sample name="Tooltip">
        <Button data-tip="A tip, above what it belongs to">Tip</Button>
      </Sample>
      <Sample name="Focus">
        <Button>Focus</Button>
        <Checkbox aria-label="Focus" />
        <Input aria-label="Focus" defaultValue="Focus" />
      </Sample>
    </>
  );
}
