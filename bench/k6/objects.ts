/** What is read, watched and written: pods of 4 KB, ConfigMaps of 1 KB. */
export const pod = (name: string): object => ({
  metadata: { name, annotations: { padding: 'x'.repeat(2600) } },
  spec: { automountServiceAccountToken: false, containers: [{ name: 'main', image: 'registry.example.com/app:1' }] },
})

export const configMap = (metadata: object): object => ({ metadata, data: { text: 'x'.repeat(900) } })
