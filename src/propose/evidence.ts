/** Texts of a column, and what speaks for a guess. */

/** Distinct texts with how often each occurs; white space around them is gone, and empty ones are not among them. */
export type Counted = ReadonlyMap<string, number>;

/** A key of the config as it is proposed, with what speaks for it. */
export interface Guess<T = unknown> {
  readonly key: string;
  readonly value: T;
  /** Beside the key, as a comment. */
  readonly because: string;
  /** Lines that a person may put in its place; each becomes a comment above the key. */
  readonly instead?: readonly string[];
}

export function total(texts: Counted): number {
  let sum = 0;
  for (const count of texts.values()) sum += count;
  return sum;
}

/** The first few texts, for a comment: `"1.5", "2"`. */
export function examples(texts: Iterable<string>, max = 3): string {
  const shown: string[] = [];
  let isMore = false;
  for (const text of texts) {
    if (shown.length === max) {
      isMore = true;
      break;
    }
    shown.push(JSON.stringify(text.length > 40 ? `${text.slice(0, 39)}…` : text));
  }
  return shown.join(', ') + (isMore ? ', …' : '');
}

/** A letter of the header of a column that says what it holds; words of the languages that exports come in. */
export const words = {
  time: /date|datum|day\b|tag\b|month|monat|mois|\bmes\b|mese|period|zeit|time|quarter|quartal|jour|fecha|stichtag|posting|posted|booked|buchung|valuta|stamp|epoch|as.?of|week|woche|when|année|jahr|year/i,
  year: /^(fiscal.?)?(year|yr|jahr|gj|année|annee|año|ano|anno|jaar|rok|fy)$/i,
  month:
    /^(fiscal|accounting|posting|buchungs?|gesch(ä|ae)fts?|gl)?[ _.-]?(month|mon|mth|monat|mois|mes|mese|maand|period|periode|per|perio|poper|monat)[ _.-]?(no|nr|num|number|nummer)?\.?$/i,
  period: /per(iod|io|$)|poper/i,
  code: /(^|[^a-z])(code|konto|kto|account|acct|compte|cuenta|conto|no|nr|num|number|nummer|id|key|sku|ean|plz|zip|kst|kostenstelle|cost.?cent(er|re)|branch|store|filiale|customer|kunde|supplier|vendor|artikel|item|project|projekt|company|entity|gl|[a-z]*konto|[a-z]*konto.?(nr|nummer)|(kunden|artikel|projekt|lieferanten|debitoren|kreditoren|kostenstellen|kst).?(nr|nummer)|debitor|kreditor|hkont|saknr|racct|ktopl|kostl|rcntr|prctr|bukrs|rbukrs|gsber|werks|lifnr|kunnr|matnr|aufnr)([^a-z]|$)/i,
  /** Nothing but a code, whatever marks its texts have. */
  codeAlone:
    /^(gl[ _.-]?)?(code|konto|kto|account|acct|compte|cuenta|conto|sachkonto|cost.?cent(er|re)|kostenstelle|kst|hkont|saknr|kostl|prctr)[ _.-]?(code|no|nr|num|number|nummer|id|key)?\.?$/i,
  /** What is nothing but a code. */
  identifier: /(^|[^a-z])(code|id|key|no|nr|num|number|nummer|sku|ean|gtin|isin|plz|zip)([^a-z]|$)/i,
  /** What is called by it. */
  name: /(^|[^a-z])(name|title|titel|label|description|desc|text|bezeichnung|\p{L}+(name|bezeichnung|text)|beschreibung|libell\p{L}*|nom|nombre)([^a-z]|$)/iu,
  /** What several things have in common: it names none of them. */
  quality:
    /(^|[^a-z])(currency|curr?|ccy|w(ä|ae?)hr\p{L}*|waers|devise|monnaie|moneda|sign|vorzeichen|soll.?haben\p{L}*|type|typ|art|kind|status|state|stage|remark|bemerkung|comment|note|region|country|land|pays|group|gruppe|category|kategorie|class|klasse|owner|manager|unit|einheit)([^a-z]|$)/iu,
  /** On which side of an account a number stands. */
  sign: /soll.?(\/|-|_| )?.?haben|(^|[^a-z])s.?h([^a-z]|$)|shkz|dr.?cr|(^|[^a-z])d.?[ck]([^a-z]|$)|debit.?.?credit|vorzeichen|(^|[^a-z])sign([^a-z]|$)|side|kennzeichen|indicator/i,
  /** What has no side, such as a rate of exchange beside an amount. */
  ratio: /price|preis|kurs|rate|percent|prozent|share|%/i,
  row: /^(#|no\.?|nr\.?|row|rownum|index|idx|lfd\.?.?(nr\.?)?|line|seq|unnamed: 0|column1)?$/i,
  /** What a month has one of: later readings replace earlier ones. */
  level:
    /balance|saldo|stock|bestand|price|preis|kurs|rate|index|level|stand|headcount|customers|quote|close|temperature|anomaly|yield|share|percent|%/i,
  /** What adds up over a month. */
  flow: /amount|betrag|montant|importe|importo|revenue|umsatz|sales|turnover|cost|kosten|expense|aufwand|ertrag|quantity|qty|menge|units|orders|count|anzahl|hours|stunden|net|gross|brutto|netto|value|wert|debit|credit|soll|haben|total/i,
  status: /status|state\b|stage|cancel|storno|void|deleted|flag|posted\?|approved/i,
  remark:
    /description|text|comment|memo|note|remark|bemerkung|buchungstext|verwendungszweck|libell|reference|beleg|invoice|rechnung|order|bestell|transaction|ticket|email|url|address|phone/i,
  /** What numbers one booking, and measures nothing. */
  voucher:
    /voucher|beleg|journal|receipt|quittung|document|\bdoc\b|invoice|rechnung|factura|facture|reference|\bref\b|booking|buchungs|transaction|ticket|entry|(nummer|number|nr|no|num)\.?$/i,
  /** A sum or a result, wherever in a name it is said. */
  total:
    /(^|[^\p{L}])(sub.?totals?|totals?|sum|summen?|(zwischen|gesamt|end|teil)summen?|gesamt|insgesamt|totale|totaal|suma|somme|celkem|yhteens\u00e4|\p{L}*ergebnis|results?|(net|gross|operating) (income|profit|loss|result|earnings|margin|surplus)|profit (before|after|for|and loss)|ebitd?a?|ebt|jahres(\u00fcberschuss|fehlbetrag)|roh(ertrag|gewinn|ergebnis)|deckungsbeitrag|(r\u00e9sultat|b\u00e9n\u00e9fice|utile) (net|brut|netto|lordo))([^\p{L}]|$)/iu,
  totalRow:
    /^\W*(grand.?total|sub.?total|total|totals|sum|summe|gesamt|gesamtsumme|insgesamt|zwischensumme|totale|totaal|suma|somme|celkem|yhteensä)\b/i,
  /** Nothing but such a word: Total Wine is a customer. */
  totalAlone:
    /^[^\p{L}\d]*((grand|sub|overall)[ -]?totals?|totals?( (g\u00e9n\u00e9ral|general))?|totale( (generale|g\u00e9n\u00e9rale))?|sum|summen?|(gesamt|zwischen|teil|end)summe|gesamt|insgesamt|totaal|suma|somme|celkem|yhteens\u00e4)([^\p{L}\d]*(in|en)?[^\p{L}\d]*([tk]?(eur|usd|gbp|chf)|euros?|sek|nok|dkk|pln|czk|huf|jpy|cny|inr|cad|aud|tsd|mio|mn|thousands?|millions?|hours?|stunden|h|pcs|st\u00fcck|stk|units?|kg))?[^\p{L}\d]*$/iu,
} as const;

/** Of nested records: `period.year` is a year. */
export function ownName(name: string): string {
  return name.replace(/^.*\.(?=\p{L})/u, '');
}

/** A list in a record, as its text. */
export function isList(text: string): boolean {
  return text.startsWith('[') && Array.isArray(parsed(text));
}

/** A list of records in a record. */
export function isRecordList(text: string): boolean {
  const list = text.startsWith('[') ? parsed(text) : undefined;
  return Array.isArray(list) && list.length > 0 && list.every((one) => typeof one === 'object' && one !== null);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `AccountCode` has two words. */
export function spaced(name: string): string {
  return name.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ');
}
