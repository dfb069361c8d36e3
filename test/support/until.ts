/** Resolves once the condition holds; looks again after every turn of the loop. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 1))
}
