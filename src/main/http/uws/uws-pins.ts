/**
 * Thread: main. The hashes of the official uWebSockets.js binaries, by package, system and major version of Node.
 * Binaries that could be fetched when this was written were compared with the tree of the official repository and are
 * pinned by SHA-256; the others are pinned by the object name that the tree of the same tag gives them.
 */
export type UwsPins = Readonly<Record<string, Readonly<Record<string, string>>>>

export const UWS_PINS: UwsPins = {
  // v20.69.0
  'uws-newest': {
    'darwin-arm64-22': 'git:bb2d50973caa43896dff1b64bb067a128360145a',
    'darwin-arm64-24': 'git:bc4ecb535c20205d1f816d546d4c5e6a3077e05a',
    'darwin-arm64-26': 'git:95e470f2a4313b79a6e2fa2f64ab829279a24641',
    'darwin-x64-22': 'git:323a80d93bced5b427cf4d9324b7767e31e1565d',
    'darwin-x64-24': 'git:def6d5ab47696f6c9e4cf257c1b9266565ec5d19',
    'darwin-x64-26': 'git:bd84bb7614ce51b55f64155894ad4a60c5f5a33a',
    'linux-arm64-22': 'git:2687379a9b6d186067814bf58049547e67712843',
    'linux-arm64-24': 'git:9d92191b2b2ef1aa8da1520a27cbc9458f40aec2',
    'linux-arm64-26': 'git:a7f4060e959f6dc94b739e1e6e32d8087508dbaa',
    'linux-x64-22': 'sha256:34d235864db874fbf3aeafd48b63f6fb80f61fb584a86f1e5f7b0291dbd7a3d4',
    'linux-x64-24': 'sha256:177efdc682425d754474bd30f9586c487fa6694f790f3406a23885d0e61c07a0',
    'linux-x64-26': 'sha256:604375741bf77780b34e7e299af9274cb1f56d73732201d19e3d8d8448176795',
    'win32-x64-22': 'git:55cacd43070d1dc29d474154701f0ffa88b7b761',
    'win32-x64-24': 'git:e8ff686ff4194284d6af84afae4284860e1b3e57',
    'win32-x64-26': 'git:aa50846276425af7628127a5a30299d17502db58',
  },
  // v20.51.0
  'uws-older': {
    'darwin-arm64-20': 'git:eaaf5c38950b1a395c066f78608d468e35f17b1a',
    'darwin-arm64-22': 'git:71cff36c8a9a76b9e179f192c6fa68e1783b2008',
    'darwin-arm64-23': 'git:b1786af63e7cd0d5ed33c19ce928245ce195153b',
    'darwin-x64-20': 'git:11cf052ace8571fbb2be95a8a4f5a09b7b4cfa47',
    'darwin-x64-22': 'git:591a040213a3b12bf7c6e6a6ec98a90b68cc309f',
    'darwin-x64-23': 'git:012c3ff894ffe2e2a85687e0de2f924098861712',
    'linux-arm-20': 'git:3853813f7ce1484fe1664bf0cc97b4bdd3b2e9d1',
    'linux-arm-22': 'git:6c732e58e8501fe72ce204014355a5e7c2b7e32b',
    'linux-arm-23': 'git:db2139d41511ac00398ba5181924e5f193e38827',
    'linux-arm64-20': 'git:6aa7e32ce433db542083e60d6f5ff1d2c04ae9ea',
    'linux-arm64-22': 'git:8f023775d292456477e93bb3493aaff0d223499a',
    'linux-arm64-23': 'git:b80d023f5c3b52b5a7dc5ae931fc067759728be4',
    'linux-x64-20': 'sha256:4d482084b665c225892917ee0e9b9572d89eaa6f3dc200ff5e536293d3456c89',
    'linux-x64-22': 'sha256:f687e7c3666b5cca9d355184bbf07bb0550f5ba0d3ffd453248ccfec552dde6c',
    'linux-x64-23': 'sha256:ed86f2297e70febcc89138818c2ca503dad29783bc4bba2aa7cc6d9beba70739',
    'win32-x64-20': 'git:67b75231f55ca24dc147944389db744630f1cd96',
    'win32-x64-22': 'git:d47ea6a6ea7ea3919c32036cc037542052ae75e8',
    'win32-x64-23': 'git:f05d425f37fab0ff191b53408f0119ff70ee5750',
  },
}
