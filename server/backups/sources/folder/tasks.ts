// The file that brings all tasks of the folder source along, see `defineTask`.
export const folderTasks = new URL("source.ts", import.meta.url).href;
