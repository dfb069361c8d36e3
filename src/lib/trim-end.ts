/** Thread: any. */

/** Text without the run of one character at its end. An expression such as `/x+$/` tries every run on its way there. */
export function trimEndOf(text: string, character: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end--
  return text.slice(0, end)
}
