/** Thread: any. Names of iSCSI targets and initiators, in the three forms that Kubernetes takes. */
import { RE2JS } from 're2js'
import { lookupTable } from '../../lib/lookup-table.js'

/** RE2, since users write the names: the form of an iqn may begin anywhere in them, which no backtracking takes in linear time. */
const FORMS: Readonly<Record<string, RE2JS>> = lookupTable({
  iqn: RE2JS.compile('iqn\\.\\d{4}-\\d{2}\\.[A-Za-z0-9.-]+:[^,;*&$|\\s]+$'),
  eui: RE2JS.compile('^eui.[A-Za-z0-9]{16}$'),
  naa: RE2JS.compile('^naa.[A-Za-z0-9]{32}$'),
})

export const isIscsiName = (name: string): boolean => FORMS[name.slice(0, 3)]?.matcher(name).find() === true
