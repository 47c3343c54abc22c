/**
 * The standard's short names of codes, for people who read captures beside other tools.
 */
const commandNames: ReadonlyMap<number, string> = new Map([
  [0x60, 'POLL'],
  [0x61, 'ID'],
  [0x62, 'CAP'],
  [0x64, 'LSTAT'],
  [0x65, 'ISTAT'],
  [0x66, 'OSTAT'],
  [0x67, 'RSTAT'],
  [0x68, 'OUT'],
  [0x69, 'LED'],
  [0x6a, 'BUZ'],
  [0x6b, 'TEXT'],
  [0x6e, 'COMSET'],
  [0x73, 'BIOREAD'],
  [0x74, 'BIOMATCH'],
  [0x75, 'KEYSET'],
  [0x76, 'CHLNG'],
  [0x77, 'SCRYPT'],
  [0x7b, 'ACURXSIZE'],
  [0x7c, 'FILETRANSFER'],
  [0x80, 'MFG'],
  [0xa1, 'XWR'],
  [0xa2, 'ABORT'],
  [0xa3, 'PIVDATA'],
  [0xa4, 'GENAUTH'],
  [0xa5, 'CRAUTH'],
  [0xa7, 'KEEPACTIVE'],
]);

const replyNames: ReadonlyMap<number, string> = new Map([
  [0x40, 'ACK'],
  [0x41, 'NAK'],
  [0x45, 'PDID'],
  [0x46, 'PDCAP'],
  [0x48, 'LSTATR'],
  [0x49, 'ISTATR'],
  [0x4a, 'OSTATR'],
  [0x4b, 'RSTATR'],
  [0x50, 'RAW'],
  [0x51, 'FMT'],
  [0x53, 'KEYPAD'],
  [0x54, 'COM'],
  [0x57, 'BIOREADR'],
  [0x58, 'BIOMATCHR'],
  [0x59, 'PDIDX'],
  [0x76, 'CCRYPT'],
  [0x78, 'RMAC_I'],
  [0x79, 'BUSY'],
  [0x7a, 'FTSTAT'],
  [0x80, 'PIVDATAR'],
  [0x81, 'GENAUTHR'],
  [0x82, 'CRAUTHR'],
  [0x83, 'MFGSTATR'],
  [0x84, 'MFGERRR'],
  [0x90, 'MFGREP'],
  [0xb1, 'XRD'],
]);

/** @param isReply the same code means different things by direction. */
export function mnemonicOf(code: number, isReply: boolean): string {
  return (isReply ? replyNames : commandNames).get(code) ?? `code 0x${code.toString(16).padStart(2, '0')}`;
}
