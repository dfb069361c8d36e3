/** Thread: pool. Access modes in short, as tables show them. */
const SHORT: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]

export const accessModesText = (modes: readonly string[] | null | undefined): string =>
  SHORT.filter(([mode]) => modes?.includes(mode))
    .map(([, short]) => short)
    .join(',')
