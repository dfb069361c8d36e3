/** Thread: any. Names of the time zone database, spelt as it spells them. */
import { lookupTable } from '../../../lib/lookup-table.js'

/** Second names of zones, by area: Intl answers with the first one, whatever the case of the second. */
const SECOND_NAMES: Readonly<Record<string, string>> = lookupTable({
  Africa: `
    Asmara Timbuktu
  `,
  America: `
    Argentina/Buenos_Aires Argentina/Catamarca Argentina/ComodRivadavia Argentina/Cordoba Argentina/Jujuy
    Argentina/Mendoza Atikokan Atka Ensenada Fort_Wayne Indiana/Indianapolis Kentucky/Louisville Knox_IN Montreal
    Nipigon Nuuk Pangnirtung Porto_Acre Rainy_River Rosario Santa_Isabel Shiprock Thunder_Bay Virgin Yellowknife
  `,
  Antarctica: `
    South_Pole
  `,
  Asia: `
    Ashkhabad Choibalsan Chongqing Chungking Dacca Harbin Ho_Chi_Minh Istanbul Kashgar Kathmandu Kolkata Macao
    Tel_Aviv Thimbu Ujung_Pandang Ulan_Bator Yangon
  `,
  Atlantic: `
    Faroe Jan_Mayen
  `,
  Australia: `
    ACT Canberra Currie LHI NSW North Queensland South Tasmania Victoria West Yancowinna
  `,
  Brazil: `
    Acre DeNoronha East West
  `,
  '': `
    CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland
    Iran Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC
    ROK Singapore Turkey UCT Universal W-SU WET Zulu Factory
  `,
  Canada: `
    Atlantic Central Eastern Mountain Newfoundland Pacific Saskatchewan Yukon
  `,
  Chile: `
    Continental EasterIsland
  `,
  Etc: `
    GMT GMT+0 GMT-0 GMT0 Greenwich UCT UTC Universal Zulu
  `,
  Europe: `
    Belfast Kyiv Nicosia Tiraspol Uzhgorod Zaporozhye
  `,
  Mexico: `
    BajaNorte BajaSur General
  `,
  Pacific: `
    Chuuk Johnston Kanton Pohnpei Samoa Yap
  `,
  US: `
    Alaska Aleutian Arizona Central East-Indiana Eastern Hawaii Indiana-Starke Michigan Mountain Pacific Samoa
  `,
})

const ALIASES: ReadonlySet<string> = new Set(
  Object.entries(SECOND_NAMES).flatMap(([area, names]) =>
    names
      .trim()
      .split(/\s+/)
      .map((name) => (area === '' ? name : `${area}/${name}`)),
  ),
)

export function isTimeZone(name: string): boolean {
  if (name === '' || name === 'UTC' || name === 'Local' || ALIASES.has(name)) return true
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
    return timeZone === name || isYoungAlias(name, timeZone)
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** A zone may get a new first name after this list was made; its old one then has capitals and small letters. */
const isYoungAlias = (name: string, first: string): boolean =>
  name.toLowerCase() !== first.toLowerCase() && name !== name.toUpperCase() && name !== name.toLowerCase()
