/**
 * A ref for a file field that takes what is dropped anywhere on the page. Beside the field a browser would open the file
 * in place of the page, with all that was chosen there and an upload that is under way.
 */
export function takeDrops(input: HTMLInputElement): () => void {
  const take = (event: DragEvent) => {
    const { dataTransfer, target, type } = event;
    if (dataTransfer?.types.includes("Files") !== true || target === input) return;
    event.preventDefault();
    if (type !== "drop") return;
    input.files = dataTransfer.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  };
  addEventListener("dragover", take);
  addEventListener("drop", take);
  return () => {
    removeEventListener("dragover", take);
    removeEventListener("drop", take);
  };
}
