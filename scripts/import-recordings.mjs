// Makes test/recordings anew out of recorded answers: node scripts/import-recordings.mjs ../shared/conformance
// (after a build; test/recordings/README.md says what is kept and how).
import { importRecordings } from '../build/test/support/recordings/import.js'

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('say where the recorded answers are: node scripts/import-recordings.mjs ../shared/conformance')
  process.exit(1)
}
importRecordings(folder)
