/**
 * Thread: any. Values of headers between text and what Node's HTTP modules take and give: there each character stands for one byte
 * of the wire. The bytes are UTF-8: the names of users, and whatever else is said in a header, are the same on every engine.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly ASCII
const ASCII = /^[\x00-\x7f]*$/

/** The text of bytes that Node gave. */
export const headerText = (bytes: string): string =>
  ASCII.test(bytes) ? bytes : Buffer.from(bytes, 'latin1').toString('utf8')

/** The text as bytes that Node can be given. */
export const headerBytes = (text: string): string => (ASCII.test(text) ? text : Buffer.from(text).toString('latin1'))
