/** Puts a text on the clipboard; resolves to whether it is there. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Over plain http from another machine there is no clipboard object; the old command still works.
    const { activeElement } = document;
    const area = document.createElement("textarea");
    area.value = text;
    area.style.position = "fixed";
    area.style.opacity = "0";
    // Beside an open dialog nothing can be selected.
    (document.querySelector("dialog:modal") ?? document.body).append(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    // The focus went with the text.
    if (activeElement instanceof HTMLElement) activeElement.focus({ preventScroll: true });
    return isCopied;
  }
}
