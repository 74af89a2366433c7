import { type Catalog, itemTextsOf } from '../errors.ts';
import { type Bound, type FieldWords, fieldMessage } from './field.ts';

function range(min: Bound, max: Bound): string {
  if (min !== undefined && max !== undefined) return `${min} 到 ${max} `;
  if (min !== undefined) return `至少 ${min} `;
  return max !== undefined ? `至多 ${max} ` : '';
}

const texts = (count: number, length: number) =>
  `至多含 ${count} 个字符串的对象，每个字符串至多 ${length} 个字符，名称为 1 到 128 个字符`;

/** Puts a space between a Chinese character and a letter or digit, and nowhere else. */
const mustBe = (wanted: string) => `必须是${wanted.replace(/^(?=[\w-])/, ' ').replace('） ', '）')}`;

const WORDS: FieldWords = {
  formats: {
    objectid: 'ObjectID，即 24 位十六进制字符串',
    'filtered-cursor': '本服务针对同一列表返回给该账户的 search_after_ctx（查询第一页时请省略）',
    cursor: '本服务返回给该账户的 next_cursor（查询第一页时请省略）',
    'date-time': 'RFC 3339 格式的时间',
    'http-url': '至多 2048 个字符的 http 或 https URL',
    labels: texts(64, 1024),
    annotations: texts(32, 2048),
    scalars: '由字符串、数字和布尔值组成的对象',
    'undone-deletion': '包含 version（int64）、at_ms（Unix 毫秒）以及可选的 by（至多 256 个字符的字符串）的对象',
  },
  types: { boolean: 'true 或 false', object: 'JSON 对象', any: 'JSON 值' },
  oneOf: (values) => `以下值之一：${values.join('、')}`,
  named: (bound, field) => `${bound}（${field}）`,
  integer(min, max) {
    if (min !== undefined && max !== undefined) return `${min} 到 ${max} 之间的整数`;
    if (min !== undefined) return `不小于 ${min} 的整数`;
    return max !== undefined ? `不大于 ${max} 的整数` : '整数';
  },
  int64: (min) => `int64 范围内${min === undefined ? '' : `且不小于 ${min} `}的整数`,
  string(min, max) {
    const bounds = range(min, max);
    return bounds ? `${bounds}个字符的字符串` : '字符串';
  },
  array(min, max, item) {
    const bounds = range(min, max).replace(/^(?=\d)/, ' ');
    return `${bounds && `含${bounds}项的`}数组，每一项${mustBe(item)}`;
  },
  wellFormed: '，且为格式正确的 Unicode',
  otherUnit: {
    seconds: (given) => `，单位为毫秒，而 ${given} 的单位是秒`,
    milliseconds: (given) => `，单位为秒，而 ${given} 的单位是毫秒`,
  },
  missing: (field, wanted) => `${field} 为必填项，${mustBe(wanted)}`,
  invalid: (name, more, wanted) => `${name}${more ? `（以及另外 ${more} 项）` : ' '}${mustBe(wanted)}`,
  unsupported: (field, instead) => `此处不支持 ${field}，请${instead ? `改用 ${instead}` : '省略'}`,
};

const subject = (field: string | undefined) => (field === undefined ? '' : `${field} 的`);

const NOUNS = { incident: '故障', alert: '告警', member: '成员' } as const;

export const catalog: Catalog = {
  language: 'zh-CN',
  codes: {
    OK: '请求成功。',
    InvalidParameter: '参数缺失或无效。',
    BadRequest: '请求无法处理。',
    InvalidContentType: 'Content-Type 请求头必须是 application/json。',
    ResourceNotFound: '资源不存在。',
    NoLicense: '该功能需要许可证，但未找到有效的许可证。',
    ReferenceExist: '该资源仍被其他对象引用，无法删除。',
    Unauthorized: 'app_key 缺失、无效或已过期。请只携带一个有效的 app_key 查询参数。',
    BalanceNotEnough: '账户余额不足，无法执行此操作。',
    AccessDenied: '账户缺少此操作所需的权限。',
    RouteNotFound: '请求路径不存在，请检查接口地址。',
    MethodNotAllowed: '该路径不支持此 HTTP 方法。',
    UndonedOrderExist: '存在未完成的订单，请稍后重试。',
    EntityTooLarge: '请求体过大。',
    RequestLocked: '多次失败后操作已被暂时锁定。',
    RequestVerifyRequired: '此请求需要二次验证。',
    DangerousOperation: '高风险操作，需要多因素验证。',
    RequestTooFrequently: '请求过于频繁，请按 Retry-After 响应头等待后重试。',
    InternalError: '服务内部错误，请携带 request_id 反馈。',
    ServiceUnavailable: '依赖服务暂不可用，请按 Retry-After 响应头等待后重试。',
  },
  explain: {
    invalidFields: ({ fieldErrors }) => `${fieldErrors.map((error) => fieldMessage(error, WORDS)).join('；')}。`,
    malformedBody: ({ line, column }) => `请求体必须是格式正确的 UTF-8 JSON：第 ${line} 行第 ${column} 列有误。`,
    bodyNotUtf8: () => '请求体必须是格式正确的 UTF-8 JSON：它不是 UTF-8。',
    bodyWithMark: () => '请求体必须是格式正确的 UTF-8 JSON：请去掉开头的字节顺序标记（U+FEFF）。',
    bodyEncoded: ({ encoding }) =>
      `无法按 Content-Encoding ${encoding} 读取请求体，请使用 gzip，或不要使用 Content-Encoding。`,
    bodyTooDeep: ({ levels }) => `请求体的嵌套不得超过 ${levels} 层。`,
    bodyTooManyValues: ({ values }) =>
      `请求体最多可含 ${values} 个值（包括对象、数组及其中的所有值）。请减少每次发送的内容。`,
    bodyNotObject: () => '请求体必须是 JSON 对象。',
    bodyTooLarge: ({ maxBytes }) => `请求体不得超过 ${maxBytes} 字节。`,
    invalidIdempotencyKey: ({ invalid }) =>
      `Idempotency-Key 请求头只能出现一次，且必须是 1 到 255 个可见 ASCII 字符或空格${invalid ? `：第 ${invalid.position} 个字符是 ${invalid.codePoint}` : ''}。`,
    invalidSource: ({ maxLength }) =>
      `查询参数 source 只能出现一次，且须由 1 到 ${maxLength} 个英文字母、数字、点、下划线或连字符组成。`,
    idempotencyKeyReused: () => '该 Idempotency-Key 已用于另一个请求体，新的请求请使用新的 Idempotency-Key。',
    workItemNotFound: ({ workItemId }) => `工作项 ${workItemId} 不存在。`,
    workItemTooLarge: ({ workItemId }) => `工作项 ${workItemId} 的存储数据过大，无法标记为已删除，请先缩减其数据。`,
    versionDiffers: ({ given, stored }) => `version 必须等于工作项当前的版本 ${stored}，而不是 ${given}。`,
    contentTypeOfItems: () =>
      'Content-Type 请求头必须是 application/json、application/ndjson、application/jsonl 或 application/x-ndjson。',
    noItemTaken: ({ list, refused, more }) =>
      `${itemTextsOf(list, refused).join('；')}${more > 0 ? `；另有 ${more} 条` : ''}。此请求的内容均未被接收。`,
    alertNotFound: ({ alertId }) => `告警 ${alertId} 不存在。`,
    endedAlertsUnnamed: () => 'is_active 为 false 时，必须提供 start_time 和 end_time，或 alert_ids 或 alert_keys。',
    namedAlertsWithTimes: () => 'alert_ids 和 alert_keys 不能与 start_time 和 end_time 同时使用。',
    tooManyNamed: ({ fields, given, maximum }) => `${fields.join(' 和 ')} 合计至多 ${maximum} 项，而不是 ${given} 项。`,
    rumResourceNotFound: () => '该账户没有 RUM 资源。',
    mergeTargetsNotFound: ({ named, more, unread }) =>
      `不存在：${named.map(({ kind, id }) => `${NOUNS[kind]} ${id}`).join('、')}${more > 0 ? `，另有 ${more} 项` : ''}。未合并任何告警。${unread > 0 ? `可能还有更多：${unread} 个告警未查找。` : ''}`,
    alertsTooLarge: ({ named, more }) =>
      `以下告警的存储数据过大，无法合并：${named.join('、')}${more > 0 ? `，以及另外 ${more} 个` : ''}。请先缩减其数据。未合并任何告警。`,
    incidentTooLarge: ({ incidentId }) =>
      `${NOUNS.incident} ${incidentId} 的存储数据过大，无法修改。请先缩减其数据。未合并任何告警。`,
    mergesPending: ({ pending }) =>
      `此账户有 ${pending} 个大型合并仍在移动告警。未合并任何告警。请按 Retry-After 响应头等待后重试。`,
    mergesWriteTooMuch: ({ limit, windowSeconds }) =>
      `此账户的合并写入过多：每 ${windowSeconds} 秒最多 ${limit} 个写入单位，告警每 KB 计两个。未合并任何告警。请按 Retry-After 响应头等待后重试，或减少每次合并的告警数。`,
    permissionMissing: ({ permission }) => `账户缺少此操作所需的权限 ${permission}，只有服务的运营人员才能授予。`,
    tooFrequent: ({ limit, windowSeconds }) =>
      `请求过于频繁：每${windowSeconds === 1 ? '' : ` ${windowSeconds} `}秒最多 ${limit} 次。请按 Retry-After 响应头等待后重试。`,
    tooManyItems: ({ limit, windowSeconds }) =>
      `记录和告警过多：此账户每 ${windowSeconds} 秒最多发送 ${limit} 条，每条按每 1 KB 计一次（不足 1 KB 按 1 KB 计）。此请求未被接收。请按 Retry-After 响应头等待后重试。`,
    writesFrozen: () => '系统维护中，暂停修改，读取不受影响。请按 Retry-After 响应头等待后重试。',
    standby: () => '本区域为备用区域，不接受修改。请发送到当前服务区域，或按 Retry-After 响应头等待后重试。',
    serviceMapDisabled: () => '此部署未启用服务地图。',
    methodNotAllowed: ({ allow }) => `该路径只支持 ${allow} 方法。`,
    itemTooLong: ({ bytes, maxBytes }) => `不得超过 ${maxBytes} 字节，实际为 ${bytes} 字节。`,
    itemNotJson: ({ column }) => `必须是格式正确的 JSON：第 ${column} 列有误。`,
    itemNotObject: () => '必须是 JSON 对象（object）。',
    itemTooDeep: ({ field, levels }) => `${subject(field)}嵌套不得超过 ${levels} 层。`,
    itemNamesInvalid: ({ field, maxLength }) =>
      `${subject(field)}字段名不得为空、超过 ${maxLength} 个字符、为 __proto__ 或不是格式正确的 Unicode。`,
    itemOfSns: () => '这是 SNS 通知的封装消息：请为该主题的订阅启用原始消息传递（raw message delivery）。',
    itemOfRefusedCall: () => '这不是记录，而是调用方发送后被拒绝的内容，仅供查看。请从此队列中删除。',
    accountDiffers: ({ accountId }) => `account_id 必须是 ${accountId}，或者省略。`,
    fieldUnknown: ({ field }) => `${field} 不是此类记录的字段。`,
    fieldReserved: ({ field }) => `${field} 是保留字段，请重新命名。`,
    numberNotStorable: ({ field }) =>
      `${field} 不得包含超出 int64 范围的整数、绝对值小于 1e-130 的小数，或会被双精度浮点数舍入为整数的小数。`,
    clockAhead: ({ field, aheadMs }) => `${field} 比记录的发送时间晚 ${aheadMs} 毫秒，请校准其来源的时钟。`,
    notExactlyOne: ({ fields }) => `${fields.join(' 和 ')} 必须且只能提供一个。`,
    alertKeyRequired: ({ field }) => `${field} 需要使用 alert_key 而不是 alert_id。`,
    incidentIdZero: () => 'incident_id 不得全为零：合并用它表示不属于任何故障。',
    versionNotDeletable: ({ maximum }) => `version 不得大于 ${maximum}，除非工作项已删除：删除会使其加 1。`,
    alertWithoutTitle: () => '必须有注解 summary 或 description，或有标签。',
    alertWithoutIdentity: () => '必须有 fingerprint 或标签。',
  },
};
