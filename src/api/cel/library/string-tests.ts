/** Thread: any. What a string begins with, ends with and contains: a part of the language itself. */
import { multiplyRanges, STRING_TRAVERSAL_FACTOR, scaleRange } from '../cost/estimate.js'
import type { FunctionDeclaration, Library } from '../function-declaration.js'
import { BOOL, STRING } from '../types.js'
import { traversalCost } from '../values/strings.js'

const edge = (name: 'startsWith' | 'endsWith', id: string): FunctionDeclaration => ({
  name,
  overloads: [
    {
      id,
      member: true,
      parameters: [STRING, STRING],
      result: BOOL,
      call:
        name === 'startsWith'
          ? (text: string, part: string) => text.startsWith(part)
          : (text: string, part: string) => text.endsWith(part),
      // Kubernetes estimates by the part, and counts by the text.
      cost: (_result, text: string) => traversalCost(text),
      estimate: (_text, part) => ({ cost: scaleRange(part!.size, STRING_TRAVERSAL_FACTOR) }),
    },
  ],
})

const contains: FunctionDeclaration = {
  name: 'contains',
  overloads: [
    {
      id: 'contains_string',
      member: true,
      parameters: [STRING, STRING],
      result: BOOL,
      call: (text: string, part: string) => text.includes(part),
      cost: (_result, text: string, part: string) => traversalCost(text) * traversalCost(part),
      estimate: (text, part) => ({
        cost: multiplyRanges(
          scaleRange(text!.size, STRING_TRAVERSAL_FACTOR),
          scaleRange(part!.size, STRING_TRAVERSAL_FACTOR),
        ),
      }),
    },
  ],
}

export const stringTests: Library = {
  functions: [edge('startsWith', 'starts_with_string'), edge('endsWith', 'ends_with_string'), contains],
}
