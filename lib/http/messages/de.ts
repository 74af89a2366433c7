import { type Catalog, itemTextsOf } from '../errors.ts';
import { type Bound, type FieldWords, fieldMessage } from './field.ts';

function range(min: Bound, max: Bound, unit = ''): string {
  if (min !== undefined && max !== undefined) return `${min} bis ${max}${unit}`;
  if (min !== undefined) return `mindestens ${min}${unit}`;
  return max !== undefined ? `höchstens ${max}${unit}` : '';
}

const texts = (count: number, length: number) =>
  `ein Objekt mit höchstens ${count} Zeichenketten von jeweils höchstens ${length} Zeichen und Namen mit 1 bis 128 Zeichen`;

const WORDS: FieldWords = {
  formats: {
    objectid: 'eine ObjectID: eine Zeichenkette aus 24 hexadezimalen Ziffern',
    'filtered-cursor':
      'ein search_after_ctx, den dieser Dienst diesem Konto für dieselbe Liste geliefert hat (für die erste Seite weglassen)',
    cursor: 'ein next_cursor, den dieser Dienst diesem Konto geliefert hat (für die erste Seite weglassen)',
    'date-time': 'eine Zeit nach RFC 3339',
    'http-url': 'eine URL mit http oder https und höchstens 2048 Zeichen',
    labels: texts(64, 1024),
    annotations: texts(32, 2048),
    scalars: 'ein Objekt mit Zeichenketten, Zahlen und Wahrheitswerten',
    'undone-deletion':
      'ein Objekt mit version (int64), at_ms (Unix-Millisekunden) und, falls bekannt, by (Zeichenkette mit höchstens 256 Zeichen)',
  },
  types: { boolean: 'true oder false', object: 'ein JSON-Objekt', any: 'ein JSON-Wert' },
  oneOf: (values) => `einer der Werte ${values.join(', ')}`,
  named: (bound, field) => `${bound} (${field})`,
  integer(min, max) {
    const bounds = range(min, max);
    return bounds ? `eine ganze Zahl von ${bounds}` : 'eine ganze Zahl';
  },
  int64: (min) => `eine ganze Zahl im Bereich int64${min === undefined ? '' : `, mindestens ${min}`}`,
  string(min, max) {
    const bounds = range(min, max, ' Zeichen');
    return bounds ? `eine Zeichenkette mit ${bounds}` : 'eine Zeichenkette';
  },
  array(min, max, item) {
    const bounds = range(min, max, (max ?? min) === 1 ? ' Element' : ' Elementen');
    return `ein Array${bounds && ` mit ${bounds}`}, als Element jeweils ${item}`;
  },
  wellFormed: ' in wohlgeformtem Unicode',
  otherUnit: {
    seconds: (given) => `, in Millisekunden, nicht in Sekunden wie ${given}`,
    milliseconds: (given) => `, in Sekunden, nicht in Millisekunden wie ${given}`,
  },
  missing: (field, wanted) => `${field} fehlt: erwartet wird ${wanted}`,
  invalid: (name, more, wanted) =>
    `${name}${more ? ` (und ${more} weitere)` : ''} ist ungültig: erwartet wird ${wanted}`,
  unsupported: (field, instead) =>
    `${field} gibt es hier nicht: ${instead ? `stattdessen ${instead} verwenden` : 'weglassen'}`,
};

const NOUNS = { incident: 'Incident', alert: 'Alert', member: 'Mitglied' } as const;

const subject = (field: string | undefined) => (field === undefined ? '' : `${field} `);

const andMore = (more: number) => (more > 0 ? ` und ${more} weitere` : '');

export const catalog: Catalog = {
  language: 'de',
  codes: {
    OK: 'Die Anfrage war erfolgreich.',
    InvalidParameter: 'Ein Parameter fehlt oder ist ungültig.',
    BadRequest: 'Die Anfrage kann nicht verarbeitet werden.',
    InvalidContentType: 'Der Header Content-Type muss application/json sein.',
    ResourceNotFound: 'Die Ressource existiert nicht.',
    NoLicense: 'Diese Funktion erfordert eine Lizenz, und es wurde keine aktive gefunden.',
    ReferenceExist: 'Auf die Ressource wird noch verwiesen; sie kann nicht gelöscht werden.',
    Unauthorized: 'Der app_key fehlt, ist ungültig oder abgelaufen. Bitte genau einen gültigen app_key senden.',
    BalanceNotEnough: 'Das Guthaben des Kontos reicht für diese Operation nicht aus.',
    AccessDenied: 'Dem Konto fehlt die Berechtigung für diese Operation.',
    RouteNotFound: 'Unbekannter Pfad. Bitte die URL der Operation prüfen.',
    MethodNotAllowed: 'Dieser Pfad nimmt diese Methode nicht an.',
    UndonedOrderExist: 'Eine offene Bestellung blockiert eine neue. Bitte warten und erneut versuchen.',
    EntityTooLarge: 'Der Inhalt der Anfrage ist zu groß.',
    RequestLocked: 'Die Operation ist nach wiederholten Fehlern vorübergehend gesperrt.',
    RequestVerifyRequired: 'Diese Anfrage erfordert eine Prüfung mit einem zweiten Faktor.',
    DangerousOperation: 'Diese riskante Operation erfordert eine Prüfung mit mehreren Faktoren.',
    RequestTooFrequently: 'Zu viele Anfragen. Bitte nach der Zeit im Header Retry-After erneut versuchen.',
    InternalError: 'Interner Fehler. Bitte mit der request_id melden.',
    ServiceUnavailable:
      'Eine Abhängigkeit ist nicht verfügbar. Bitte nach der Zeit im Header Retry-After erneut versuchen.',
  },
  explain: {
    invalidFields: ({ fieldErrors }) => `${fieldErrors.map((error) => fieldMessage(error, WORDS)).join('; ')}.`,
    malformedBody: ({ line, column }) =>
      `Der Inhalt der Anfrage muss gültiges JSON in UTF-8 sein: Fehler in Zeile ${line}, Spalte ${column}.`,
    bodyNotUtf8: () => 'Der Inhalt der Anfrage muss gültiges JSON in UTF-8 sein: er ist kein UTF-8.',
    bodyWithMark: () =>
      'Der Inhalt der Anfrage muss gültiges JSON in UTF-8 sein: Bitte die Bytereihenfolge-Marke (U+FEFF) am Anfang entfernen.',
    bodyEncoded: ({ encoding }) =>
      `Der Inhalt der Anfrage ist mit Content-Encoding ${encoding} nicht lesbar. Bitte in gzip oder ohne Content-Encoding senden.`,
    bodyTooDeep: ({ levels }) => `Der Inhalt der Anfrage darf höchstens ${levels} Ebenen tief verschachtelt sein.`,
    bodyTooManyValues: ({ values }) =>
      `Der Inhalt der Anfrage darf höchstens ${values} Werte haben (Objekte, Arrays und alles darin). Bitte weniger auf einmal senden.`,
    bodyNotObject: () => 'Der Inhalt der Anfrage muss ein JSON-Objekt sein.',
    bodyTooLarge: ({ maxBytes }) => `Der Inhalt der Anfrage darf höchstens ${maxBytes} Bytes groß sein.`,
    invalidIdempotencyKey: ({ invalid }) =>
      `Der Header Idempotency-Key muss einmal angegeben sein, mit 1 bis 255 sichtbaren ASCII-Zeichen und Leerzeichen${invalid ? `: Zeichen ${invalid.position} ist ${invalid.codePoint}` : ''}.`,
    invalidSource: ({ maxLength }) =>
      `Der Query-Parameter source muss einmal angegeben sein, mit 1 bis ${maxLength} Buchstaben (A bis Z), Ziffern, Punkten, Unterstrichen oder Bindestrichen.`,
    idempotencyKeyReused: () =>
      'Der Idempotency-Key wurde schon mit einem anderen Inhalt verwendet. Eine neue Anfrage braucht einen neuen.',
    workItemNotFound: ({ workItemId }) => `Das Work Item ${workItemId} existiert nicht.`,
    workItemTooLarge: ({ workItemId }) =>
      `Das Work Item ${workItemId} hat zu viele Daten, um als gelöscht markiert zu werden. Bitte zuerst kürzen.`,
    versionDiffers: ({ given, stored }) =>
      `version muss die gespeicherte Version des Work Items sein: ${stored}, nicht ${given}.`,
    contentTypeOfItems: () =>
      'Der Header Content-Type muss application/json, application/ndjson, application/jsonl oder application/x-ndjson sein.',
    noItemTaken: ({ list, refused, more }) =>
      `${itemTextsOf(list, refused).join('; ')}${andMore(more)}. Von dieser Anfrage wurde nichts übernommen.`,
    alertNotFound: ({ alertId }) => `Der Alarm ${alertId} existiert nicht.`,
    endedAlertsUnnamed: () =>
      'is_active darf nur mit start_time und end_time oder mit alert_ids oder alert_keys false sein.',
    namedAlertsWithTimes: () =>
      'alert_ids und alert_keys sind nicht zusammen mit start_time und end_time möglich: bitte eines davon weglassen.',
    tooManyNamed: ({ fields, given, maximum }) =>
      `${fields.join(' und ')} dürfen zusammen höchstens ${maximum} Elemente haben, nicht ${given}.`,
    rumResourceNotFound: () => 'Das Konto hat keine RUM-Ressource.',
    mergeTargetsNotFound: ({ named, more, unread }) =>
      `Nicht gefunden: ${named.map(({ kind, id }) => `${NOUNS[kind]} ${id}`).join(', ')}${andMore(more)}. Nichts wurde zusammengeführt.${unread > 0 ? ` Es können mehr sein: ${unread} Alerts wurden nicht nachgeschlagen.` : ''}`,
    alertsTooLarge: ({ named, more }) =>
      `Diese Alerts haben zu viele Daten, um zusammengeführt zu werden: ${named.join(', ')}${andMore(more)}. Bitte zuerst kürzen. Nichts wurde zusammengeführt.`,
    incidentTooLarge: ({ incidentId }) =>
      `Der Incident ${incidentId} hat zu viele Daten, um geändert zu werden. Bitte zuerst kürzen. Nichts wurde zusammengeführt.`,
    mergesPending: ({ pending }) =>
      `${pending} große Zusammenführungen dieses Kontos verschieben noch Alerts. Nichts wurde zusammengeführt. Bitte nach der Zeit im Header Retry-After erneut versuchen.`,
    mergesWriteTooMuch: ({ limit, windowSeconds }) =>
      `Die Zusammenführungen dieses Kontos schreiben zu viel: höchstens ${limit} Schreibeinheiten pro ${windowSeconds} Sekunden, zwei je KB eines Alerts. Nichts wurde zusammengeführt. Bitte nach der Zeit im Header Retry-After erneut versuchen oder weniger Alerts auf einmal zusammenführen.`,
    permissionMissing: ({ permission }) =>
      `Dem Konto fehlt die Berechtigung ${permission} für diese Operation. Nur der Betreiber des Dienstes kann sie erteilen.`,
    tooFrequent: ({ limit, windowSeconds }) =>
      `Zu viele Anfragen: höchstens ${limit} pro ${windowSeconds === 1 ? 'Sekunde' : `${windowSeconds} Sekunden`}. ` +
      'Bitte nach der Zeit im Header Retry-After erneut versuchen.',
    tooManyItems: ({ limit, windowSeconds }) =>
      `Zu viele Datensätze und Alerts: Dieses Konto darf höchstens ${limit} pro ${windowSeconds} Sekunden senden; jeder zählt einmal je angefangenem KB. Von dieser Anfrage wurde nichts übernommen. Bitte nach der Zeit im Header Retry-After erneut versuchen.`,
    writesFrozen: () =>
      'Änderungen sind wegen Wartung ausgesetzt, Lesen geht weiter. Bitte nach der Zeit im Header Retry-After erneut versuchen.',
    standby: () =>
      'Diese Region ist ein Standby und nimmt keine Änderungen an. Bitte an die aktive Region senden oder nach der Zeit im Header Retry-After erneut versuchen.',
    serviceMapDisabled: () => 'Die Service Map ist in dieser Installation nicht eingeschaltet.',
    methodNotAllowed: ({ allow }) => `Dieser Pfad nimmt nur ${allow} an.`,
    itemTooLong: ({ bytes, maxBytes }) => `darf höchstens ${maxBytes} Bytes groß sein, hat aber ${bytes}.`,
    itemNotJson: ({ column }) => `muss gültiges JSON sein: Fehler in Spalte ${column}.`,
    itemNotObject: () => 'muss ein JSON-Objekt sein.',
    itemTooDeep: ({ field, levels }) => `${subject(field)}darf höchstens ${levels} Ebenen tief verschachtelt sein.`,
    itemNamesInvalid: ({ field, maxLength }) =>
      `${subject(field)}darf keine Feldnamen enthalten, die leer, länger als ${maxLength} Zeichen, __proto__ oder kein wohlgeformtes Unicode sind.`,
    itemOfSns: () =>
      'ist der Umschlag einer SNS-Nachricht: Bitte im Abonnement des Topics die Zustellung von Rohnachrichten einschalten.',
    itemOfRefusedCall: () =>
      'ist kein Datensatz, sondern was ein Aufrufer gesendet und der Feed abgelehnt hat, zum Ansehen aufbewahrt. Bitte aus dieser Queue löschen.',
    accountDiffers: ({ accountId }) => `account_id muss ${accountId} sein oder fehlen.`,
    fieldUnknown: ({ field }) => `${field} ist kein Feld dieser Art.`,
    fieldReserved: ({ field }) => `${field} ist reserviert: Bitte das Feld umbenennen.`,
    numberNotStorable: ({ field }) =>
      `${field} darf keine ganzen Zahlen außerhalb von int64, keine Brüche näher an 0 als 1e-130 und keine Brüche enthalten, die ein Double zu einer ganzen Zahl rundet.`,
    clockAhead: ({ field, aheadMs }) =>
      `${field} liegt ${aheadMs} ms nach dem Senden des Datensatzes: Bitte die Uhr stellen, von der es stammt.`,
    notExactlyOne: ({ fields }) => `genau eines von ${fields.join(' und ')} ist erforderlich.`,
    alertKeyRequired: ({ field }) => `${field} erfordert einen alert_key anstelle von alert_id.`,
    incidentIdZero: () =>
      'incident_id darf nicht nur aus Nullen bestehen: das speichern Zusammenführungen für keinen Incident.',
    versionNotDeletable: ({ maximum }) =>
      `version darf höchstens ${maximum} sein, außer das Work Item ist gelöscht: Löschen addiert 1.`,
    alertWithoutTitle: () => 'muss eine Annotation summary oder description oder ein Label haben.',
    alertWithoutIdentity: () => 'muss einen fingerprint oder ein Label haben.',
  },
};
