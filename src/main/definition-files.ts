/**
 * Thread: main. The definitions that a library's user names: as objects, as YAML or JSON files, or as folders of such files. A file may
 * have several documents; what is no definition is passed over, so that a folder of manifests will do.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { isJsonObject, type KubeObject } from '../api/object.js'
import { parseYaml, YamlError, yamlDocuments } from '../api/yaml/yaml.js'

/** A definition, or the path of a file or folder. */
export type DefinitionSource = string | Readonly<Record<string, unknown>>

const FILE = /\.(ya?ml|json)$/

/** `errors` name everything that is wrong. */
export function readDefinitions(sources: readonly DefinitionSource[]): { definitions: KubeObject[]; errors: string[] } {
  const definitions: KubeObject[] = []
  const errors: string[] = []
  for (const source of sources) {
    if (typeof source !== 'string') {
      if (isDefinition(source)) definitions.push(source as KubeObject)
      else errors.push(`crds: ${JSON.stringify(source['kind'] ?? source)} is no CustomResourceDefinition`)
      continue
    }
    try {
      const found = filesOf(source).flatMap(readFile)
      if (found.length === 0) errors.push(`crds: there is no CustomResourceDefinition in ${source}`)
      definitions.push(...found)
    } catch (error) {
      errors.push(`crds: ${source}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return { definitions, errors }
}

/** A file, or those of a folder by name; folders in it are not looked into. */
function filesOf(source: string): string[] {
  if (!statSync(source).isDirectory()) return [source]
  const files = readdirSync(source, { withFileTypes: true }).filter((entry) => entry.isFile() && FILE.test(entry.name))
  return files.map(({ name }) => path.join(source, name)).sort()
}

function readFile(file: string): KubeObject[] {
  const text = readFileSync(file, 'utf8')
  return yamlDocuments(text).flatMap((document) => {
    try {
      const { value } = parseYaml(document)
      return isDefinition(value) ? [value as KubeObject] : []
    } catch (error) {
      if (error instanceof YamlError) throw new Error(`${path.basename(file)}: ${error.message}`)
      throw error
    }
  })
}

const isDefinition = (value: unknown): boolean =>
  isJsonObject(value as never) && (value as KubeObject).kind === 'CustomResourceDefinition'
