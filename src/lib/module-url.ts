/**
 * Thread: any. Where a module or a file of the product lies that is opened by its address: thread entries, the page's files.
 *
 * The address is relative to the root of the build, because the same source runs from dist/ (one file a module) and from
 * bundle/ (this function may be inlined into an entry or a chunk). All of them lie one folder below their root, as this
 * file does.
 */
export const moduleUrl = (path: string): URL => new URL(`../${path}`, import.meta.url)
