/** How long `/readyz` waits. Short, because the programs that request it have short timeouts. */
export const readyMs = 5000;
